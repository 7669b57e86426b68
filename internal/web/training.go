package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// schedule serves GET …/schedule: when and where the player trains.
func (p *Pages) schedule(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.familyPage(ctx, r, by, "schedule", "", func(d Question) (map[string]any, error) {
		_, batches, upcoming, err := p.Batches.Schedule(ctx, by, d.ID)
		return map[string]any{"Batches": batches, "Upcoming": upcoming}, err
	})
}

// attendancePerPage is the number of marks on a page of a family.
const attendancePerPage = 60

// playerAttendance serves GET …/attendance: the marks of the player, and the totals by month.
func (p *Pages) playerAttendance(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.familyPage(ctx, r, by, "attended", "", func(d Question) (map[string]any, error) {
		data, err := p.attended(ctx, r, by, d.ID)
		if err == nil {
			data["Schedule"] = d.Path + "/schedule"
		}
		return data, err
	})
}

// coachAttendance serves GET /coach/players/{player_id}/attendance: the same for the coach,
// with notes.
func (p *Pages) coachAttendance(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, err := p.playerInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "players", "attended.title", by)
	if err != nil {
		return Response{}, err
	}
	data, err := p.attended(ctx, r, by, player.ID)
	if err != nil {
		return Response{}, err
	}
	data["Back"], data["Student"] = coachPlayer(player.ID), player.Student.FullName
	v.Data = data
	return Page("attended", v), nil
}

// attended reads a page of the marks of a player.
func (p *Pages) attended(ctx context.Context, r *Request, by actor.Actor, playerID string) (map[string]any, error) {
	after := team.AttendanceKey{BatchID: r.Value("batch")}
	if date, err := team.ParseDate(r.Value("before")); err == nil {
		after.Date = date
	}
	a, err := p.Attendance.OfPlayer(ctx, by, playerID, team.Period{}, after, attendancePerPage+1)
	if err != nil {
		return nil, err
	}
	data := map[string]any{"Months": a.Months, "Marks": a.Marks}
	if len(a.Marks) > attendancePerPage {
		data["Marks"], data["Last"] = a.Marks[:attendancePerPage], a.Marks[attendancePerPage-1]
	}
	return data, nil
}

// familyPage shows a page of a player to a party, with the data that read returns. A party
// that has not approved sees what a yes would open instead, with service as the example, and
// no data.
func (p *Pages) familyPage(ctx context.Context, r *Request, by actor.Actor, name, service string, read func(Question) (map[string]any, error)) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	v := p.SignedInView(r, name+".title", by)
	data, err := read(d)
	switch code := fault.CodeOf(err); code {
	case "approval_pending", "approval_required", "tier_limit":
		services := slices.DeleteFunc(slices.Clone(d.Services), func(s string) bool { return s != service })
		v.Data = map[string]any{"Question": d, "Name": name, "Services": services, "NotInTier": code == "tier_limit"}
		return Page("locked", v).with(http.StatusForbidden), nil
	}
	if err != nil {
		return Response{}, err
	}
	data["Back"], data["Student"], data["WholeHistory"] = d.Path, d.Student, p.WholeHistory
	if form, ok := data["Form"].(*Form); ok {
		v.Form, v.Path = form, r.URL.Path
	}
	v.Data = data
	return FormPage(name, v), nil
}
