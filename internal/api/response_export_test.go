package api

import (
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/wire"
)

// Wire gives the tests what one caller reads.
type Wire struct{ view }

// NewWire returns what by reads at now.
func NewWire(by actor.Actor, rules approval.Rules, now time.Time) Wire {
	return Wire{view{by, rules, now}}
}

func (w Wire) Player(p *approval.Player) any   { return w.player(p) }
func (w Wire) MyPlayer(p *approval.Player) any { return w.myPlayer(p) }
func (w Wire) Request(r *approval.Request) any { return w.request(r) }
func (w Wire) Reminder(r *approval.Request, left int) any {
	return reminderResponse{w.request(r), left}
}
func (w Wire) Status(p *approval.Player, h []approval.Record) any { return w.status(p, h) }
func (w Wire) Pending(i approval.PendingItem) any                 { return w.pending(i) }

func Availability(a approval.Availability) any { return newAvailabilityResponse(a) }

// Inputs reads bodies as the handlers do, without a service behind them.
type Inputs struct{ s *Server }

// NewInputs reads numbers of region, at a time.
func NewInputs(region string, now time.Time) Inputs {
	rules := approval.Rules{Routes: map[approval.Channel]approval.Route{"in_app": nil, "sms": nil}}
	return Inputs{&Server{Config: Config{
		Approvals: approval.NewService(nil, rules, nil, nil),
		Phones:    phone.Parser{DefaultRegion: region}, Now: func() time.Time { return now },
	}}}
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
func (i Inputs) AddPlayer(body []byte) (approval.Student, *approval.Guardian, error) {
	in, f, err := decodeBody[addPlayerRequest](body)
	if err != nil {
		return approval.Student{}, nil, err
	}
	student, guardian := in.player(i.s.contactReader(&f))
	return student, guardian, f.Err()
}

// Patch reads the body of PATCH /api/players/{player_id}.
func (i Inputs) Patch(body []byte) (approval.Patch, error) {
	in, f, err := decodeBody[playerPatch](body)
	if err != nil {
		return approval.Patch{}, err
	}
	return in.patch(i.s.contactReader(&f)), f.Err()
}

// SendGuardian reads the body of POST /api/approval/send-guardian-request.
func (i Inputs) SendGuardian(body []byte) (approval.Patch, []approval.Channel, error) {
	in, f, err := decodeBody[sendGuardianRequest](body)
	if err != nil {
		return approval.Patch{}, nil, err
	}
	e := i.s.contactReader(&f)
	patch, channels := in.correction(e), e.channels(in.Channels)
	return patch, channels, f.Err()
}

// SendStudent reads the body of POST /api/approval/send-student-request.
func (i Inputs) SendStudent(body []byte) (approval.Patch, []approval.Channel, error) {
	in, f, err := decodeBody[sendStudentRequest](body)
	if err != nil {
		return approval.Patch{}, nil, err
	}
	e := i.s.contactReader(&f)
	patch, channels := in.correction(e), e.channels(in.Channels)
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
