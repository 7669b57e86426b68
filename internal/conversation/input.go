package conversation

import (
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// messageRequest is the MessageRequest of openapi.yaml.
type messageRequest struct {
	To       targetRequest `json:"to" rule:"required"`
	Audience string        `json:"audience" rule:"required,oneof=guardian|student|both"`
	Text     string        `json:"text" rule:"required,lines"`
	Channels []string      `json:"channels" rule:"required,min=1,max=3"`
}

// targetRequest is the MessageTarget of openapi.yaml.
type targetRequest struct {
	PlayerIDs []string `json:"player_ids" rule:"min=1,max=1000"`
	BatchID   *string  `json:"batch_id"`
	All       *bool    `json:"all"`
}

// read returns the draft.
func (in messageRequest) read(f *wire.Faults) Draft {
	d := Draft{To: in.To.read(f), Audience: Audience(in.Audience), Text: in.Text}
	readText(in.Text, f)
	for i, name := range in.Channels {
		c := Channel(name)
		if !slices.Contains(Channels, c) {
			f.Add("/channels/"+strconv.Itoa(i), "invalid_value", "This must be one of sms, chat, in_app.")
		}
		if slices.Contains(d.Channels, c) {
			f.Add("/channels/"+strconv.Itoa(i), "duplicate", "Name each channel once.")
		}
		d.Channels = append(d.Channels, c)
	}
	return d
}

func (in targetRequest) read(f *wire.Faults) Target {
	t := Target{PlayerIDs: in.PlayerIDs, All: in.All != nil && *in.All}
	if in.BatchID != nil {
		t.BatchID = *in.BatchID
	}
	switch {
	case in.All != nil && !*in.All:
		f.Add("/to/all", "invalid_value", "This can only be true; leave it out to name players or a batch.")
	case !onlyOne(in.PlayerIDs != nil, in.BatchID != nil, in.All != nil) && !slices.ContainsFunc(*f, func(field fault.Field) bool {
		return field.Pointer == "/to" || strings.HasPrefix(field.Pointer, "/to/")
	}):
		f.Add("/to", "invalid_value", "Give one of player_ids, batch_id and all.")
	}
	return t
}

// readText returns a text that a person writes to others, and adds its fault.
func readText(text string, f *wire.Faults) string {
	code, detail := checkText(text)
	f.Add("/text", code, detail)
	return text
}

// replyRequest is the ReplyRequest of openapi.yaml.
type replyRequest struct {
	Text string `json:"text" rule:"required,lines"`
}

// templateRequest is the TemplateRequest of openapi.yaml.
type templateRequest struct {
	Title string `json:"title" rule:"required,name,min=1,max=100"`
	Text  string `json:"text" rule:"required,lines"`
}
