package feed

// NewWebhook is the part of Create before it saves.
func (h *Webhooks) NewWebhook(p WebhookPatch) (Webhook, string, error) { return h.newWebhook(p) }
