package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/progress"
)

// TestRestoreRecords: a deleted measurement or report is gone for coach and family at once, and
// comes back as it was, once, for its coach, within progress.RestoreWithin.
func TestRestoreRecords(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, other := p.coach(1), p.coach(9)
		a := p.add(by, "Asha", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		records := p.records()
		m, err := records.Measure(bg, by, progress.Measurement{PlayerID: a.ID, Metric: "80 m", Value: 12.1 + 0.2, Unit: "s", On: "2026-03-01"})
		ok(p, err)
		value := 12.35
		_, err = records.EditMeasurement(bg, by, a.ID, m.ID, progress.MeasurementPatch{Value: &value})
		ok(p, err)
		r, err := records.AddReport(bg, by, progress.Report{PlayerID: a.ID, Title: "March", Text: "Good \"work\"\nअच्छा", From: "2026-03-01", To: "2026-03-31"})
		ok(p, err)
		read := func(as actor.Actor) (ms []progress.Measurement, rs []progress.Report) {
			p.Helper()
			ms, err := records.Measurements(bg, as, a.ID, "", progress.Measurement{}, 9)
			ok(p, err)
			rs, err = records.Reports(bg, as, a.ID, "", 9)
			ok(p, err)
			return ms, rs
		}
		deleteBoth := func() {
			p.Helper()
			ok(p, records.DeleteMeasurement(bg, by, a.ID, m.ID))
			ok(p, records.DeleteReport(bg, by, a.ID, r.ID))
		}
		restore := func(as actor.Actor) (codes [2]string) {
			for i, restore := range []func() error{
				func() error { return records.RestoreMeasurement(bg, as, a.ID, m.ID) },
				func() error { return records.RestoreReport(bg, as, a.ID, r.ID) },
			} {
				codes[i] = fault.CodeOf(restore())
			}
			return codes
		}
		missing := [2]string{"not_found", "not_found"}
		beforeM, beforeR := read(by)
		if got := restore(by); got != missing {
			p.Errorf("a restore before a deletion: %v", got)
		}
		p.clock.advance(time.Minute)
		deleteBoth()
		for _, as := range []actor.Actor{by, guardian} {
			if ms, rs := read(as); len(ms)+len(rs) > 0 {
				p.Errorf("%s reads deleted records: %v %v", as.Role, ms, rs)
			}
		}
		if got := restore(other); got != missing {
			p.Errorf("another coach: %v", got)
		}
		p.clock.advance(progress.RestoreWithin)
		n := p.countCodes(concurrently(6, func(i int) error {
			if i%2 == 0 {
				return records.RestoreMeasurement(bg, by, a.ID, m.ID)
			}
			return records.RestoreReport(bg, by, a.ID, r.ID)
		}))
		if n[""] != 2 || n["not_found"] != 4 {
			p.Errorf("concurrent restores: %v, want one of each", n)
		}
		for _, as := range []actor.Actor{by, guardian} {
			if ms, rs := read(as); len(ms) != 1 || len(rs) != 1 || ms[0] != beforeM[0] || rs[0] != beforeR[0] {
				p.Errorf("%s reads %v %v, want %v %v", as.Role, ms, rs, beforeM, beforeR)
			}
		}
		deleteBoth()
		p.clock.advance(progress.RestoreWithin + time.Second)
		if got := restore(by); got != missing {
			p.Errorf("too late: %v", got)
		}
		ok(p, p.db.SweepAt(bg, p.clock.Now()))
		if n := p.count(`SELECT count(*) FROM removed_records`); n != 0 {
			p.Errorf("%d removed records after the sweep", n)
		}
	})
}
