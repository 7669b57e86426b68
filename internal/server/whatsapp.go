package server

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/server/devphone"
	"github.com/touchline/touchline/internal/worker"
)

const (
	// whatsAppAttempts is how often WhatsApp is tried before a message leaves by SMS.
	whatsAppAttempts = 2
	// whatsAppFallBackAfter is how long a message that WhatsApp accepted waits for the report that
	// it was sent. Then it leaves by SMS.
	whatsAppFallBackAfter = 30 * time.Second
)

// acceptedFunc stores WhatsApp's id of a message of a delivery.
type acceptedFunc func(ctx context.Context, deliveryID, providerID string) error

func newWhatsApp(cfg *config.Config, o Options, testNumber func(phone.Number) bool, phones *devphone.Phones, accepted acceptedFunc) (worker.Sender, error) {
	if cfg.WhatsAppLog() {
		return &whatsapp.Log{Show: receiveChat(phones), Terminal: o.Terminal, Accepted: accepted, NewID: o.NewID}, nil
	}
	return whatsapp.NewSender(whatsapp.Config{
		API: cfg.Endpoints.WhatsApp, PhoneID: cfg.WhatsAppAccount.PhoneID.Reveal(), Token: cfg.WhatsAppAccount.Token.Reveal(), TestNumber: testNumber, Accepted: accepted,
	})
}

// sayer is a transport for WhatsApp.
type sayer interface {
	Say(ctx context.Context, to phone.Number, a message.ChatAnswer) error
}

// newInbox returns the receiver of what families write and of the buttons that they press.
func newInbox(cfg *config.Config, o Options, b base, conversations *conversation.Service, accounts *auth.Service) *conversation.Inbox {
	in := &conversation.Inbox{
		Service: conversations, Approvals: b.approvals, Outbox: b.db.Outbox, Brand: cfg.Brand, PublicURL: cfg.PublicURL, URL: cfg.PublicURL + "/me", Log: o.Log,
		QuestionURL: func(deliveryID string) string { return cfg.PublicURL + "/a/" + b.keys.Vault.LinkToken(deliveryID) },
	}
	if cfg.SMSNumber() != "" {
		in.SendCode = accounts.SendOpenCode
	}
	if s, ok := b.delivery.senders[message.Chat].(sayer); ok {
		in.Say = s.Say
		if cfg.WhatsAppNumber() != "" {
			in.OpenCode = accounts.OpenCode
		}
	}
	return in
}

// callbacks returns the reader of Meta's calls.
func callbacks(cfg *config.Config) whatsapp.Callbacks {
	return whatsapp.Callbacks{AppSecret: cfg.WhatsAppAccount.AppSecret.Reveal(), VerifyToken: cfg.WhatsAppAccount.VerifyToken.Reveal()}
}

// chatReplies returns the reader of replies in Meta's calls.
func chatReplies(cfg *config.Config, parser phone.Parser) func(message.ProviderCall) []message.Reply {
	return func(call message.ProviderCall) []message.Reply { return callbacks(cfg).Replies(call, parser.Parse) }
}

// otpChannel is the channel on which OTPs leave first.
func otpChannel(cfg *config.Config) message.Channel {
	if cfg.SendsByWhatsApp(config.WhatsAppOTP) {
		return message.Chat
	}
	return message.SMS
}

// firstChannels are the channels on which requests leave first.
func firstChannels(cfg *config.Config) map[message.Lane]message.Channel {
	if !cfg.SendsByWhatsApp(config.WhatsAppRequest) {
		return nil
	}
	return map[message.Lane]message.Channel{
		{Channel: message.SMS, Kind: message.Request}:  message.Chat,
		{Channel: message.SMS, Kind: message.Reminder}: message.Chat,
	}
}

// fallbacks are the channels on which messages leave that WhatsApp cannot deliver.
func fallbacks(cfg *config.Config) map[message.Channel]message.Fallback {
	if !cfg.HasWhatsApp() || cfg.WhatsAppLog() { // the log delivers at once
		return nil
	}
	return map[message.Channel]message.Fallback{
		message.Chat: {To: message.SMS, After: whatsAppFallBackAfter, Attempts: whatsAppAttempts},
	}
}

// fallbackChannels are the channels of fallbacks.
func fallbackChannels(cfg *config.Config) map[message.Channel]message.Channel {
	to := map[message.Channel]message.Channel{}
	for channel, f := range fallbacks(cfg) {
		to[channel] = f.To
	}
	return to
}
