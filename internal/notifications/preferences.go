package notifications

import (
	"context"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

// preferencesResponse is the Preferences of openapi.yaml.
type preferencesResponse struct {
	Language       *string                             `json:"language"`
	TimeZone       *string                             `json:"time_zone"`
	QuietHours     *quietHoursBody                     `json:"quiet_hours"`
	Channels       map[message.Kind]*[]message.Channel `json:"channels"`
	StoppedCoaches []string                            `json:"stopped_coaches"`
}

type quietHoursBody struct {
	Start string `json:"start" rule:"required"`
	End   string `json:"end" rule:"required"`
}

func newPreferencesResponse(p message.Preferences) preferencesResponse {
	a := preferencesResponse{
		Language: wire.OrNull(p.Language), TimeZone: wire.OrNull(p.TimeZone),
		Channels: map[message.Kind]*[]message.Channel{}, StoppedCoaches: append([]string{}, p.StoppedCoaches...),
	}
	if q := p.QuietHours; q.Set() {
		a.QuietHours = &quietHoursBody{q.Start.String(), q.End.String()}
	}
	for _, kind := range message.ChosenKinds {
		a.Channels[kind] = nil
		if chosen, ok := p.Channels[kind]; ok {
			a.Channels[kind] = &chosen
		}
	}
	return a
}

// preferences serves GET /api/me/preferences.
func (h handlers) preferences(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	p, err := h.Preferences.Preferences(ctx, r.Caller.Number)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newPreferencesResponse(p)), nil
}

// preferencesPatch is the PreferencesPatch of openapi.yaml.
type preferencesPatch struct {
	Language       wire.Opt[string]         `json:"language" rule:"min=1,max=35"`
	TimeZone       wire.Opt[string]         `json:"time_zone" rule:"min=1,max=64"`
	QuietHours     wire.Opt[quietHoursBody] `json:"quiet_hours"`
	Channels       wire.Opt[channelsPatch]  `json:"channels"`
	StoppedCoaches wire.Opt[[]string]       `json:"stopped_coaches" rule:"max=200,id"`
}

// channelsPatch has a field for each of message.ChosenKinds. A request and its reminder need
// at least one channel outside the app, because many families have no app.
type channelsPatch struct {
	Request  wire.Opt[[]string] `json:"request" rule:"min=1"`
	Reminder wire.Opt[[]string] `json:"reminder" rule:"min=1"`
	Notice   wire.Opt[[]string] `json:"notice"`
	Team     wire.Opt[[]string] `json:"team"`
}

// editPreferences serves PATCH /api/me/preferences.
func (h handlers) editPreferences(ctx context.Context, r api.Request[preferencesPatch]) (api.Response, error) {
	in, f := r.Body, r.Faults
	input.CheckTimeZone(in.TimeZone.Some(), &f)
	if code := in.Language.Some(); code != nil && !f.Has("/language") {
		input.CheckLanguage("/language", *code, &f)
	}
	patch := message.PreferencesPatch{
		Language: input.Value(in.Language), TimeZone: input.Value(in.TimeZone),
		QuietHours: readQuietHours(in.QuietHours, &f),
		Channels:   in.Channels.Value.read(&f), ClearChannels: in.Channels.Null,
		StoppedCoaches: input.Value(in.StoppedCoaches),
	}
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	p, err := h.Preferences.SavePreferences(ctx, r.Caller.Number, patch)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newPreferencesResponse(p)), nil
}

func readQuietHours(in wire.Opt[quietHoursBody], f *wire.Faults) *message.QuietHours {
	if !in.Set || in.Null {
		return input.Value(wire.Opt[message.QuietHours]{Set: in.Set, Null: in.Null})
	}
	read := func(at, text string) message.TimeOfDay {
		t, ok := message.ParseTimeOfDay(text)
		if !ok && !f.Has(at) && !f.Has("/quiet_hours") {
			f.Add(at, "invalid_time", "Write the time as HH:MM, such as 21:30.")
		}
		return t
	}
	before := len(*f)
	q := message.QuietHours{Start: read("/quiet_hours/start", in.Value.Start), End: read("/quiet_hours/end", in.Value.End)}
	if len(*f) == before && !f.Has("/quiet_hours") && !q.Set() {
		f.Add("/quiet_hours/end", "invalid_value", "This must be another time than the start.")
	}
	return &q
}

// read returns the changes of the kinds that the patch names.
func (p channelsPatch) read(f *wire.Faults) map[message.Kind]*[]message.Channel {
	changes := map[message.Kind]*[]message.Channel{}
	for kind, in := range map[message.Kind]wire.Opt[[]string]{message.Request: p.Request, message.Reminder: p.Reminder, message.NotificationCopy: p.Notice, message.Team: p.Team} {
		if !in.Set {
			continue
		}
		changes[kind] = nil
		if !in.Null {
			channels := chosenChannels(wire.PointTo("/channels", string(kind)), in.Value, f)
			changes[kind] = &channels
		}
	}
	return changes
}

func chosenChannels(at string, names []string, f *wire.Faults) []message.Channel {
	chosen := []message.Channel{}
	for i, name := range names {
		at, channel := wire.PointTo(at, i), message.Channel(name)
		switch {
		case f.Has(at):
		case !slices.Contains(message.ChosenChannels, channel):
			f.Add(at, "invalid_value", "This must be one of "+choices()+".")
		case slices.Contains(chosen, channel):
			f.Add(at, "not_unique", "Name each channel once.")
		}
		chosen = append(chosen, channel)
	}
	return chosen
}

// choices formats message.ChosenChannels as "sms, email".
func choices() string {
	var names []string
	for _, channel := range message.ChosenChannels {
		names = append(names, string(channel))
	}
	return strings.Join(names, ", ")
}
