package server

import (
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
)

// smsConfig returns the configuration of the SMS providers.
func smsConfig(cfg *config.Config, o Options, vault *vault.Vault) sms.Config {
	c := sms.Config{
		MSG91Templates: map[string]sms.MSG91Template{},
		ReceiptURL:     callbackURL(cfg, vault, "/receipts/"),
		ReceiptSecret:  func(ref message.MessageRef) string { return vault.ReceiptSecret(ref.String()) },
		Terminal:       o.Terminal,
	}
	for _, t := range cfg.MSG91Templates {
		c.MSG91Templates[t.Key] = sms.MSG91Template{ID: t.ProviderID, RegistryID: t.RegistryID}
	}
	for _, p := range cfg.SMSProviders() {
		c.Accounts = append(c.Accounts, sms.Account(p))
	}
	return c
}

// callbackURL returns the address that a provider calls about an attempt.
func callbackURL(cfg *config.Config, vault *vault.Vault, path string) func(message.MessageRef) string {
	return func(ref message.MessageRef) string {
		return cfg.PublicURL + path + ref.String() + "/" + vault.ReceiptSecret(ref.String())
	}
}

// newReplies returns the receiver of replies by SMS and WhatsApp.
func newReplies(cfg *config.Config, o Options, db *outbox.Store, parser phone.Parser, m *metrics.Metrics) *message.Replies {
	return &message.Replies{Store: db, Readers: sms.ReplyReaders(smsConfig(cfg, o, nil), parser.Parse), CountUnplaced: m.UnplacedReply, Log: o.Log}
}

// newReceipts returns the receiver of receipts of SMS, WhatsApp and calls, or nil if no provider
// sends receipts.
func newReceipts(cfg *config.Config, o Options, db *outbox.Store, vault *vault.Vault, m *metrics.Metrics) *message.Receipts {
	c := smsConfig(cfg, o, vault)
	r := &message.Receipts{
		Store: db, Valid: vault.ValidReceiptSecret, Readers: sms.ReceiptReaders(c), AccountReaders: sms.AccountReaders(c),
		Count: m.Receipt, Log: o.Log,
	}
	if cfg.HasWhatsApp() && !cfg.WhatsAppLog() {
		r.AccountReaders[whatsapp.Provider] = callbacks(cfg).Read
	}
	if p, err := newVoiceProvider(cfg, vault, nil); err == nil && p != nil {
		r.Readers[p.Name()] = p.ReadReceipt
	}
	if len(r.Readers)+len(r.AccountReaders) == 0 {
		return nil
	}
	return r
}
