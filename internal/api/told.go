package api

import (
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/wire"
)

// ToldResponse is the Told of openapi.yaml: who was told of what the coach did.
type ToldResponse struct {
	Event   string           `json:"event"`
	At      string           `json:"at"`
	People  int              `json:"people"`
	InApp   int              `json:"in_app"`
	SMS     int              `json:"sms"`
	Chat    int              `json:"chat"`
	Email   int              `json:"email"`
	NotTold []UntoldResponse `json:"not_told"`
}

// UntoldResponse is a person without a message.
type UntoldResponse struct {
	PlayerID    string  `json:"player_id"`
	StudentName string  `json:"student_name"`
	Party       *string `json:"party"`
}

// NewTold returns the response of a telling; nil without one.
func NewTold(t *notice.Telling) *ToldResponse {
	if t == nil {
		return nil
	}
	r := &ToldResponse{
		Event: t.What, At: wire.Timestamp(t.At), People: t.People, InApp: t.By[message.InApp], SMS: t.By[message.SMS], Chat: t.By[message.Chat], Email: t.By[message.Email],
		NotTold: []UntoldResponse{},
	}
	for _, u := range t.Rest {
		r.NotTold = append(r.NotTold, UntoldResponse{u.PlayerID, u.StudentName, wire.OrNull(string(u.Party))})
	}
	return r
}
