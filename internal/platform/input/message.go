package input

import (
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// Message is the MessageRequest of openapi.yaml.
type Message struct {
	To       Target   `json:"to" rule:"required"`
	Audience string   `json:"audience" rule:"required,oneof=guardian|student|both"`
	Text     string   `json:"text" rule:"required,lines"`
	Channels []string `json:"channels" rule:"required,min=1,max=3"`
}

// Target is the MessageTarget of openapi.yaml.
type Target struct {
	PlayerIDs []string `json:"player_ids" rule:"min=1,max=1000"`
	BatchID   *string  `json:"batch_id"`
	All       *bool    `json:"all"`
}

// Read returns the draft.
func (in Message) Read(f *wire.Faults) team.Draft {
	d := team.Draft{To: in.To.read(f), Audience: team.Audience(in.Audience), Text: in.Text}
	checkText("/text", in.Text, f)
	for i, name := range in.Channels {
		c := team.Channel(name)
		if !slices.Contains(team.Channels, c) {
			f.Add("/channels/"+strconv.Itoa(i), "invalid_value", "This must be one of "+channelNames()+".")
		}
		if slices.Contains(d.Channels, c) {
			f.Add("/channels/"+strconv.Itoa(i), "duplicate", "Name each channel once.")
		}
		d.Channels = append(d.Channels, c)
	}
	return d
}

func channelNames() string {
	var names []string
	for _, c := range team.Channels {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

func (in Target) read(f *wire.Faults) team.Target {
	t := team.Target{PlayerIDs: in.PlayerIDs, All: in.All != nil && *in.All}
	ways := 0
	for _, named := range []bool{in.PlayerIDs != nil, in.BatchID != nil, in.All != nil} {
		if named {
			ways++
		}
	}
	if in.BatchID != nil {
		t.BatchID = *in.BatchID
	}
	if in.All != nil && !*in.All {
		f.Add("/to/all", "invalid_value", "This can only be true; leave it out to name players or a batch.")
	} else if ways != 1 && !faultBelow(*f, "/to") {
		f.Add("/to", "invalid_value", "Give one of player_ids, batch_id and all.")
	}
	return t
}

// faultBelow reports whether a member of the object at pointer has a fault.
func faultBelow(f wire.Faults, pointer string) bool {
	for _, field := range f {
		if field.Pointer == pointer || strings.HasPrefix(field.Pointer, pointer+"/") {
			return true
		}
	}
	return false
}

// checkText adds the fault of a text that a person writes to others.
func checkText(pointer, text string, f *wire.Faults) {
	code, detail := team.CheckText(text)
	f.Add(pointer, code, detail)
}

// Reply is the ReplyRequest of openapi.yaml.
type Reply struct {
	Text string `json:"text" rule:"required,lines"`
}

// Read returns the text.
func (in Reply) Read(f *wire.Faults) string {
	checkText("/text", in.Text, f)
	return in.Text
}

// Template is the TemplateRequest of openapi.yaml.
type Template struct {
	Title string `json:"title" rule:"required,name,min=1,max=100"`
	Text  string `json:"text" rule:"required,lines"`
}

// Read returns title and text.
func (in Template) Read(f *wire.Faults) (title, text string) {
	checkText("/text", in.Text, f)
	return in.Title, in.Text
}
