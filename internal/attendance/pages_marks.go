package attendance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// waitingMark is a mark that waited on a phone.
type waitingMark struct {
	Player string  `json:"player"`
	Mark   string  `json:"mark"` // its letter
	Note   *string `json:"note"`
	At     string  `json:"at"`
}

// receipt tells a phone what became of each mark: the players whose marks are saved, and for the others why
// not and what to do. A phone forgets only the marks that it names.
type receipt struct {
	Saved   []string          `json:"saved"`
	Refused map[string]string `json:"refused"`
}

// saveMarks serves POST …/attendance/{date}/marks: it merges the marks that waited on a phone. Marks that
// cannot be saved do not stop the others.
func (p pages) saveMarks(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	batchID, date, err := sheetOf(r)
	if err != nil {
		return web.Response{}, err
	}
	var sent []waitingMark
	if err := json.Unmarshal([]byte(r.Value("marks")), &sent); err != nil || len(sent) > maxSheetRows {
		return web.Response{}, fault.New(fault.Malformed, "malformed_request", "A sheet has at most %d marks.", maxSheetRows)
	}
	v := p.site.NewView(r, "")
	out := receipt{Saved: []string{}, Refused: map[string]string{}}
	marks := p.readWaiting(v, sent, p.clockError(r.Value("now")), out)
	var sheet *Sheet
	for len(marks) > 0 && sheet == nil {
		if sheet, err = p.Merge(ctx, by, batchID, date, marks, Precondition{}); err == nil {
			break
		}
		known, _ := errors.AsType[*fault.Error](err)
		switch fault.KindOf(err) {
		case fault.Invalid:
			marks = refuseMarks(v, known.Fields, marks, out)
		case fault.Conflict, fault.Forbidden:
			marks = refuseAll(marks, v.TextOr("attendance.refused."+known.Code, p.site.ErrorText(r, err)), out)
		case fault.NotFound:
			marks = refuseAll(marks, v.MustT("attendance.refused.gone"), out)
		default:
			return web.Response{}, err
		}
	}
	for _, m := range marks {
		stored := sheet.find(m.PlayerID)
		if stored.Mark == m.Mark && (m.Note == nil || stored.Note == *m.Note) {
			out.Saved = append(out.Saved, m.PlayerID)
		} else {
			out.Refused[m.PlayerID] = v.MustT("attendance.refused.newer", "Mark", v.MustT("mark."+string(stored.Mark)), "Time", v.DateTime(stored.MarkedAt))
		}
	}
	return web.Response{Write: func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(out)
	}}, nil
}

// clockError returns how far the clock of a phone is behind, or a negative duration. Within a minute it is
// zero: a request takes a while, and a mark that is sent twice should have the same time.
func (p pages) clockError(now string) time.Duration {
	t, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return 0
	}
	behind := p.Now().Sub(t)
	if behind.Abs() < time.Minute {
		return 0
	}
	return behind
}

// readWaiting reads the marks of a phone whose clock is behind. It refuses those that it cannot read.
func (p pages) readWaiting(v *web.View, sent []waitingMark, behind time.Duration, out receipt) []NewMark {
	marks := make([]NewMark, 0, len(sent))
	for _, m := range sent {
		at, err := time.Parse(time.RFC3339, m.At)
		switch {
		case !endpoint.IsID(m.Player) || markOf(m.Mark) == "" || err != nil:
			out.Refused[m.Player] = v.MustT("attendance.refused.unreadable")
		case m.Note != nil && utf8.RuneCountInString(*m.Note) > MaxMarkNote:
			out.Refused[m.Player] = v.MustT("invalid.too_long")
		default:
			at = at.Add(behind).UTC().Truncate(time.Microsecond)
			if at.After(p.Now()) {
				at = time.Time{} // now
			}
			marks = append(marks, NewMark{PlayerID: m.Player, Mark: markOf(m.Mark), Note: m.Note, MarkedAt: at})
		}
	}
	return marks
}

// refuseMarks refuses the marks that the faults name, or all if one is about the sheet. It returns the others.
func refuseMarks(v *web.View, faults []fault.Field, marks []NewMark, out receipt) []NewMark {
	refused := map[int]bool{}
	for _, f := range faults {
		text := v.TextOr("attendance.refused."+f.Code, v.TextOr("attendance.fault."+f.Code, f.Detail))
		var i int
		if _, err := fmt.Sscanf(f.Pointer, "/marks/%d", &i); err != nil || i >= len(marks) {
			return refuseAll(marks, text, out)
		}
		refused[i] = true
		out.Refused[marks[i].PlayerID] = text
	}
	var rest []NewMark
	for i, m := range marks {
		if !refused[i] {
			rest = append(rest, m)
		}
	}
	return rest
}

func refuseAll(marks []NewMark, text string, out receipt) []NewMark {
	for _, m := range marks {
		out.Refused[m.PlayerID] = text
	}
	return nil
}
