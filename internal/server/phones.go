package server

import (
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/voice"
	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/devphone"
)

// newPhones returns the phones of a service for development, or nil where a message can reach a person.
func newPhones(cfg *config.Config, o Options) *devphone.Phones {
	if !cfg.DevelopmentPhones() {
		return nil
	}
	return &devphone.Phones{Advance: o.advance, Now: o.Now, NewID: o.NewID, HasChat: cfg.HasWhatsApp()}
}

// receiveSMS shows an SMS on the phones.
func receiveSMS(phones *devphone.Phones) func(sms.Message) {
	return func(m sms.Message) {
		phones.Receive(m.To, devphone.Message{ID: m.ID, Channel: message.SMS, Text: m.Text}, m.Kind == sms.OTP)
	}
}

// receiveChat shows a WhatsApp message on the phones.
func receiveChat(phones *devphone.Phones) func(whatsapp.Shown) {
	if phones == nil { // an Options.Now that tests set
		return nil
	}
	return func(m whatsapp.Shown) {
		phones.Receive(m.To, devphone.Message{ID: m.ID, Channel: message.Chat, Text: m.Text, Code: m.Code, Buttons: m.Buttons}, false)
	}
}

// receiveCall shows a call on the phones.
func receiveCall(phones *devphone.Phones) func(voice.Call) {
	if phones == nil {
		return nil
	}
	return func(c voice.Call) {
		phones.ReceiveCall(c.To, c.ID, c.Code, c.Prompt)
	}
}
