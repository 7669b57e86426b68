package store_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

const (
	network      = "198.51.100.7"
	otherNetwork = "198.51.100.8"
)

func TestFindByShortCode(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		request := a.Party(actor.Guardian).Request
		want := approval.LinkState{
			Open: true, RequestID: request.ID, PlayerID: a.ID, Party: actor.Guardian, Number: number(2), CoachName: "Coach 1", StudentName: "Asha Rao", Version: 1,
		}
		p.wantPair(request.ShortCode, number(2), want)
		p.wantPair(" "+strings.ToLower(request.ShortCode[:3])+"-"+request.ShortCode[3:], number(2), want)
		p.wantPair("", number(2), approval.LinkState{})
		p.wantPair(request.ShortCode, number(3), approval.LinkState{})                        // the other party
		p.wantPair(a.Party(actor.Student).Request.ShortCode, number(2), approval.LinkState{}) // the code of the other party
		p.wantPair(request.ShortCode, number(2), want)

		// A correction cancels the request: its code ends, and the new one has another.
		r, _, err := p.Send(bg, coach, a.ID, actor.Guardian, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(4))}}, nil)
		ok(p, err)
		p.wantPair(request.ShortCode, number(4), approval.LinkState{})
		p.wantPair(request.ShortCode, number(2), approval.LinkState{})
		want.RequestID, want.Number = r.ID, number(4)
		p.wantPair(r.ShortCode, number(4), want)
		ok(p, p.decide(p.as(actor.Guardian, number(4)), a.ID, approval.Approve))
		p.wantPair(r.ShortCode, number(4), approval.LinkState{})
	})
}

// wantPair fails the test unless a pair of short code and number leads to want.
func (p *fixture) wantPair(code string, n phone.Number, want approval.LinkState) {
	p.Helper()
	got, err := p.FindByShortCode(bg, code, n, network)
	ok(p, err)
	if diff := cmp.Diff(want, got); diff != "" {
		p.Errorf("%s and %s (-want +got):\n%s", code, n, diff)
	}
}

// Wrong pairs use up the limits of the number and of the network. A right pair uses up
// none, but a spent limit refuses it, too.
func TestWrongPairsOfShortCodes(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		a := p.add(p.coach(1), "Asha Rao", number(2), "")
		code := a.Party(actor.Guardian).Request.ShortCode
		find := func(code string, n phone.Number, network string) error {
			_, err := p.FindByShortCode(bg, code, n, network)
			return err
		}
		for range 20 {
			ok(p, find(code, number(2), network))
		}
		for range approval.WrongPairsPerNumber {
			ok(p, find("WRNGWR", number(2), otherNetwork))
		}
		f := p.refused(find(code, number(2), network), "rate_limited")
		if f.RetryAfter != time.Hour || f.Extra["limit"] != "short_code_pairs_per_number_hour" {
			p.Errorf("the limit of the number: %+v", f)
		}
		for i := range approval.WrongPairsPerNetwork {
			ok(p, find("WRNGWR", number(100+i), network))
		}
		f = p.refused(find(code, number(99), network), "rate_limited")
		if f.Extra["limit"] != "short_code_pairs_per_address_hour" {
			p.Errorf("the limit of the network: %+v", f)
		}
		ok(p, find("WRNGWR", number(99), otherNetwork))
		p.clock.advance(time.Hour)
		ok(p, find(code, number(2), network))
	})
}

// Of concurrent wrong pairs for one number exactly as many are answered as the limit says.
func TestWrongPairsAreCountedAtomically(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		var answered atomic.Int64
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() {
				if _, err := p.FindByShortCode(bg, "WRNGWR", number(2), fmt.Sprintf("198.51.100.%d", i)); err == nil {
					answered.Add(1)
				}
			})
		}
		wait.Wait()
		if n := answered.Load(); n != approval.WrongPairsPerNumber {
			p.Errorf("%d wrong pairs were answered, want %d", n, approval.WrongPairsPerNumber)
		}
	})
}

// A code that is in use, or was until less than a year ago, is not given again.
func TestShortCodesAreUnique(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		// The source gives AAAAAA to every request until it is exhausted, then BBBBBB.
		p.repeatCode(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		p.repeatCode(1)
		b := p.add(coach, "Bela Rao", number(3), "")
		p.wantCodes(a, "AAAAAA", b, "BBBBBB")

		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Reject))
		p.clock.advance(364 * day)
		ok(p, p.db.SweepAt(bg, p.clock.Now()))
		p.rand = nil
		p.openStore()
		p.wantCodes(a, "AAAAAA", b, "BBBBBB")
		p.clock.advance(2 * day)
		ok(p, p.db.SweepAt(bg, p.clock.Now()))
		p.repeatCode(1)
		c := p.add(coach, "Chetan Rao", number(4), "")
		p.wantCodes(a, "", c, "AAAAAA")
		p.wantCodes(b, "BBBBBB") // its request is still open
	})
}

// repeatCode makes the store draw the code AAAAAA n times and then BBBBBB.
func (p *fixture) repeatCode(n int) {
	p.rand = io.MultiReader(bytes.NewReader(make([]byte, 6*n)), bytes.NewReader([]byte{1, 1, 1, 1, 1, 1}), rand.Reader)
	p.openStore()
}

// wantCodes takes players and the codes of the newest requests to their guardians.
func (p *fixture) wantCodes(playersAndCodes ...any) {
	p.Helper()
	for i := 0; i < len(playersAndCodes); i += 2 {
		a := playersAndCodes[i].(*approval.Player)
		saved, err := p.Player(bg, actor.Actor{AccountID: a.CoachID, Role: actor.Coach}, a.ID)
		ok(p, err)
		if got := saved.Party(actor.Guardian).Request.ShortCode; got != playersAndCodes[i+1] {
			p.Errorf("the code of %s is %q, want %q", a.Student.FullName, got, playersAndCodes[i+1])
		}
	}
}
