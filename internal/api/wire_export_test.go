package api

import (
	"context"
	"net/http"
	"net/http/httptest"
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

func (w Wire) Player(p *approval.Player) any                      { return w.player(p) }
func (w Wire) MyPlayer(p *approval.Player) any                    { return w.myPlayer(p) }
func (w Wire) Request(r *approval.Request) any                    { return w.request(r) }
func (w Wire) Reminder(r *approval.Request, left int) any         { return reminderAnswer{w.request(r), left} }
func (w Wire) Status(p *approval.Player, h []approval.Record) any { return w.status(p, h) }
func (w Wire) Pending(i approval.PendingItem) any                 { return w.pending(i) }

func Availability(a approval.Availability) any { return newAvailabilityResponse(a) }

// Inputs reads bodies as the handlers do, without a service behind them.
type Inputs struct{ s *Server }

// NewInputs reads numbers of region, at a time.
func NewInputs(region string, now time.Time) Inputs {
	return Inputs{&Server{phones: phone.Parser{DefaultRegion: region}, now: func() time.Time { return now }}}
}

// bodyOf returns a request that carries body as the adapter leaves it.
func bodyOf(body []byte) (*http.Request, error) {
	c := &call{raw: body}
	var err error
	if c.value, err = wire.Parse(body, (*wire.Faults)(&c.faults)); err != nil {
		return nil, err
	}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	return r.WithContext(context.WithValue(r.Context(), callKey{}, c)), nil
}

// AddPlayer reads the body of POST /api/players/add.
func (i Inputs) AddPlayer(body []byte) (approval.Student, *approval.Guardian, error) {
	r, err := bodyOf(body)
	if err != nil {
		return approval.Student{}, nil, err
	}
	in, f := decode[addPlayerRequest](r)
	student, guardian := in.player(i.s.entry(&f))
	return student, guardian, f.err()
}

// Patch reads the body of PATCH /api/players/{player_id}.
func (i Inputs) Patch(body []byte) (approval.Patch, error) {
	r, err := bodyOf(body)
	if err != nil {
		return approval.Patch{}, err
	}
	in, f := decode[playerPatch](r)
	return in.patch(i.s.entry(&f)), f.err()
}

// SendGuardian reads the body of POST /api/approval/send-guardian-request.
func (i Inputs) SendGuardian(body []byte) (approval.Patch, []approval.Channel, error) {
	r, err := bodyOf(body)
	if err != nil {
		return approval.Patch{}, nil, err
	}
	in, f := decode[sendGuardianRequest](r)
	e := i.s.entry(&f)
	patch, channels := in.correction(e), e.channels(in.Channels)
	return patch, channels, f.err()
}

// SendStudent reads the body of POST /api/approval/send-student-request.
func (i Inputs) SendStudent(body []byte) (approval.Patch, []approval.Channel, error) {
	r, err := bodyOf(body)
	if err != nil {
		return approval.Patch{}, nil, err
	}
	in, f := decode[sendStudentRequest](r)
	e := i.s.entry(&f)
	patch, channels := in.correction(e), e.channels(in.Channels)
	return patch, channels, f.err()
}

// Decision reads the body of PUT /api/approval/guardian-response.
func (i Inputs) Decision(body []byte) (approval.Decision, error) {
	r, err := bodyOf(body)
	if err != nil {
		return approval.Decision{}, err
	}
	in, f := decode[decisionRequest](r)
	return in.decision(), f.err()
}

// Filter reads the query of GET /api/players.
func Filter(query url.Values) (approval.Filter, error) {
	var f faults
	filter := playerFilter(query, &f)
	return filter, f.err()
}
