package server

import (
	"time"

	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/worker"
)

const (
	// whatsAppAttempts is how often WhatsApp is tried before a message leaves by SMS.
	whatsAppAttempts = 2
	// whatsAppFallBackAfter is how long a message that WhatsApp accepted waits for the report that
	// it was sent. Then it leaves by SMS.
	whatsAppFallBackAfter = 30 * time.Second
)

func newWhatsApp(cfg *config.Config, testNumber func(phone.Number) bool) (worker.Sender, error) {
	return whatsapp.NewSender(whatsapp.Config{
		API: cfg.Endpoints.WhatsApp, PhoneID: cfg.WhatsAppPhoneID, Token: cfg.WhatsAppToken.Reveal(), TestNumber: testNumber,
	})
}

// callbacks returns the reader of Meta's calls.
func callbacks(cfg *config.Config) whatsapp.Callbacks {
	return whatsapp.Callbacks{AppSecret: cfg.WhatsAppAppSecret.Reveal(), VerifyToken: cfg.WhatsAppVerifyToken.Reveal()}
}

// chatReplies returns the reader of replies in Meta's calls.
func chatReplies(cfg *config.Config, parser phone.Parser) func(notify.ProviderCall) []notify.Reply {
	return func(call notify.ProviderCall) []notify.Reply { return callbacks(cfg).Replies(call, parser.Parse) }
}

// otpChannel is the channel on which OTPs leave first.
func otpChannel(cfg *config.Config) notify.Channel {
	if cfg.SendsByWhatsApp(config.WhatsAppOTP) {
		return notify.WhatsApp
	}
	return notify.SMS
}

// firstChannels are the channels on which requests leave first.
func firstChannels(cfg *config.Config) map[notify.Lane]notify.Channel {
	if !cfg.SendsByWhatsApp(config.WhatsAppRequest) {
		return nil
	}
	return map[notify.Lane]notify.Channel{
		{Channel: notify.SMS, Kind: notify.Request}:  notify.WhatsApp,
		{Channel: notify.SMS, Kind: notify.Reminder}: notify.WhatsApp,
	}
}

// fallbacks are the channels on which messages leave that WhatsApp cannot deliver.
func fallbacks(cfg *config.Config) map[notify.Channel]notify.Fallback {
	if len(cfg.WhatsApp) == 0 {
		return nil
	}
	return map[notify.Channel]notify.Fallback{
		notify.WhatsApp: {To: notify.SMS, After: whatsAppFallBackAfter, Attempts: whatsAppAttempts},
	}
}

// fallbackChannels are the channels of fallbacks.
func fallbackChannels(cfg *config.Config) map[notify.Channel]notify.Channel {
	to := map[notify.Channel]notify.Channel{}
	for channel, f := range fallbacks(cfg) {
		to[channel] = f.To
	}
	return to
}
