package consent

import (
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/player"
)

// View builds responses for one caller.
type View struct{ view }

// NewView returns a View for the caller by at the time now.
func NewView(by actor.Actor, rules approval.Rules, now time.Time) View {
	return View{view{by, rules, now}}
}

func (v View) Player(p *approval.Player) any   { return v.player(p) }
func (v View) MyPlayer(p *approval.Player) any { return v.myPlayer(p) }
func (v View) Request(r *approval.Request) any { return v.request(r) }
func (v View) Reminder(r *approval.Request, left int) any {
	return reminderResponse{v.request(r), left}
}
func (v View) Status(p *approval.Player, h []approval.Record) any { return v.status(p, h) }
func (v View) Pending(i approval.PendingItem) any                 { return v.pending(i) }

func Availability(a approval.Availability) any { return newAvailabilityResponse(a) }

// Inputs reads bodies as the handlers do.
type Inputs struct{ h handlers }

// NewInputs returns Inputs with a default region for numbers and a fixed time.
func NewInputs(region string, now time.Time) Inputs {
	rules := approval.Rules{Routes: map[message.Channel]message.Route{"in_app": nil, "sms": nil}}
	return Inputs{handlers{Service{Service: &player.Service{Rules: rules}}, api.New(api.Config{
		Phones: phone.Parser{DefaultRegion: region}, Settings: httpx.Settings{Now: func() time.Time { return now }},
	})}}
}

// decodeBody decodes a body as the adapter does.
func decodeBody[T any](raw []byte) (value T, f wire.Faults, err error) {
	parsed, err := wire.Parse(raw, &f)
	if err == nil {
		wire.Bind(parsed, &value, &f)
	}
	return value, f, err
}

// AddPlayer reads the body of POST /api/players/add.
func (i Inputs) AddPlayer(body []byte) (approval.Student, *approval.Person, error) {
	in, f, err := decodeBody[addPlayerRequest](body)
	if err != nil {
		return approval.Student{}, nil, err
	}
	student, guardians := in.read(i.h.api.Reader(&f))
	if len(guardians) == 0 {
		return student, nil, f.Err()
	}
	return student, &guardians[0], f.Err()
}

// Patch reads the body of PATCH /api/players/{player_id}.
func (i Inputs) Patch(body []byte) (approval.Patch, error) {
	in, f, err := decodeBody[playerPatchBody](body)
	if err != nil {
		return approval.Patch{}, err
	}
	return in.read(i.h.api.Reader(&f)), f.Err()
}

// SendGuardian reads the body of POST /api/approval/send-guardian-request.
func (i Inputs) SendGuardian(body []byte) (approval.Patch, []message.Channel, error) {
	in, f, err := decodeBody[sendGuardianRequest](body)
	if err != nil {
		return approval.Patch{}, nil, err
	}
	e := i.h.api.Reader(&f)
	patch, channels := in.correction(e), i.h.channels(in.Channels, &f)
	return patch, channels, f.Err()
}

// SendStudent reads the body of POST /api/approval/send-student-request.
func (i Inputs) SendStudent(body []byte) (approval.Patch, []message.Channel, error) {
	in, f, err := decodeBody[sendStudentRequest](body)
	if err != nil {
		return approval.Patch{}, nil, err
	}
	e := i.h.api.Reader(&f)
	patch, channels := in.correction(e), i.h.channels(in.Channels, &f)
	return patch, channels, f.Err()
}

// Decision reads the body of PUT /api/approval/guardian-response.
func (i Inputs) Decision(body []byte) (approval.Decision, error) {
	in, f, err := decodeBody[decisionRequest](body)
	if err != nil {
		return approval.Decision{}, err
	}
	return in.decision(), f.Err()
}

// Filter reads the query of GET /api/players.
func Filter(query url.Values) (approval.Filter, error) {
	var f wire.Faults
	filter := playerFilter(query, &f)
	return filter, f.Err()
}
