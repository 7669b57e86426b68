package server

import (
	"context"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/voice"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/server/devphone"
	"github.com/touchline/touchline/internal/worker"
)

func newVoice(cfg *config.Config, o Options, vault *vault.Vault, testNumber func(phone.Number) bool, phones *devphone.Phones, accepted acceptedFunc) (worker.Sender, error) {
	if cfg.VoiceLog() {
		return voice.NewSender(&voice.Log{Show: receiveCall(phones), Terminal: o.Terminal}, testNumber), nil
	}
	provider, err := newVoiceProvider(cfg, vault, accepted)
	if err != nil {
		return nil, err
	}
	return voice.NewSender(provider, testNumber), nil
}

// callRoute returns the route of calls that ask a question, or nil if the service makes no calls.
func callRoute(cfg *config.Config, o Options) message.Route {
	if !cfg.HasVoice() {
		return nil
	}
	return message.RouteToNumber(cfg.SMSAllowed, isTestNumber(cfg, o))
}

// newVoiceProvider returns the provider of calls, or nil if no provider makes calls.
func newVoiceProvider(cfg *config.Config, vault *vault.Vault, accepted acceptedFunc) (voice.Provider, error) {
	account := cfg.VoiceProvider()
	if account.Kind == "" {
		return nil, nil
	}
	return voice.New(voice.Config{
		Account: sms.Account(account), Accepted: accepted,
		CallURL: callbackURL(cfg, vault, "/calls/"), ReceiptURL: callbackURL(cfg, vault, "/receipts/"),
	})
}

// newCalls returns what answers the steps of calls, or nil if no provider makes calls.
func newCalls(cfg *config.Config, b base, accounts *auth.Service, receipts *message.Receipts) (*voice.Calls, error) {
	provider, err := newVoiceProvider(cfg, b.keys.Vault, nil)
	if provider == nil {
		return nil, err
	}
	return &voice.Calls{
		Provider: provider, Valid: b.keys.Vault.ValidReceiptSecret, Record: receipts.Record,
		Answer: func(ctx context.Context, deliveryID string, s voice.Step) (voice.Prompt, error) {
			d, err := b.db.Outbox.VoiceDelivery(ctx, deliveryID)
			if err != nil && !database.IsNoRows(err) {
				return voice.Prompt{}, err
			}
			if d.Kind == message.Reminder {
				return b.approvals.AnswerCall(ctx, deliveryID, phone.Number(d.To), s.State, s.Key)
			}
			m, live := message.Message{Brand: cfg.Brand}, false
			if d.Kind == message.OTP {
				var c auth.Challenge
				if c, _, live, err = b.accounts.LiveChallenge(ctx, d, cfg.OTPTries); err != nil {
					return voice.Prompt{}, err
				}
				if m.Language = c.Language; live {
					if m.Code, err = accounts.Code(c.ID, c.Code); err != nil {
						return voice.Prompt{}, err
					}
				}
			}
			return message.AnswerOTPCall(m, live, s.State, s.Key), nil
		},
	}, nil
}
