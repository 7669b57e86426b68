package batch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// scheduleGroup is a time of the day with its days, as the form of a batch shows it.
type scheduleGroup struct {
	N    int
	Days []scheduleDay
}

type scheduleDay struct {
	Name    string // monday
	Number  int    // as in time.Weekday
	Checked bool
}

// maxScheduleGroups is the number of times that a form can have.
const maxScheduleGroups = team.MaxSlots

// addBatchPage serves GET /coach/batches/add.
func (p pages) addBatchPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.batchForm(ctx, r, by, nil, r.Restored(&web.Form{Values: url.Values{"request": {p.NewID()}}}))
}

// addBatch serves POST /coach/batches/add. The same form sent twice makes one batch.
func (p pages) addBatch(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	patch, groups, err := readBatch(r)
	if err == nil {
		id := r.Value("request")
		if !endpoint.IsID(id) {
			id = p.NewID()
		}
		b, added := p.AddOnce(ctx, by, id, patch)
		if added == nil {
			return web.Redirect(pathOf(b.ID) + "?done=added"), nil
		}
		err = added
	}
	return p.batchFaults(ctx, r, by, nil, groups, err)
}

// editBatchPage serves GET …/edit.
func (p pages) editBatchPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	b, err := p.Batch(ctx, by, r.PathValue("batch_id"))
	if err != nil {
		return web.Response{}, err
	}
	return p.batchForm(ctx, r, by, b, r.Restored(&web.Form{Values: batchValues(b)}))
}

// editBatch serves POST …/edit.
func (p pages) editBatch(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	b, err := p.Batch(ctx, by, r.PathValue("batch_id"))
	if err != nil {
		return web.Response{}, err
	}
	patch, groups, err := readBatch(r)
	if err == nil {
		if _, err = p.Edit(ctx, by, b.ID, patch); err == nil {
			return web.Redirect(pathOf(b.ID) + "?done=saved"), nil
		}
	}
	return p.batchFaults(ctx, r, by, b, groups, err)
}

// batchFaults shows the form again with an error that the coach can correct.
func (p pages) batchFaults(ctx context.Context, r *web.Request, by actor.Actor, b *team.Batch, groups []int, err error) (web.Response, error) {
	f := &web.Form{Values: r.Form}
	if fault.CodeOf(err) == "idempotency_key_reused" {
		f.Values.Set(web.RequestField, p.NewID())
	}
	fields := map[string]string{"/name": "name", "/sport": "sport", "/venue": "venue", "/time_zone": "time_zone", "/schedule": "days1"}
	for i, n := range groups {
		at := fmt.Sprintf("/schedule/%d", i)
		fields[at], fields[at+"/start"], fields[at+"/end"] = fmt.Sprint("days", n), fmt.Sprint("start", n), fmt.Sprint("end", n)
	}
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return web.Response{}, err
	}
	for i, field := range known.Fields {
		if strings.HasSuffix(field.Pointer, "/end") && field.Code == "invalid_value" {
			known.Fields[i].Code = "ends_before_start"
		}
	}
	switch {
	case p.site.AddFaults(r, f, err, fields):
		f.Faults = slices.CompactFunc(f.Faults, func(a, b web.FieldFault) bool { return a == b })
	case known.Kind == fault.Conflict || known.Kind == fault.Forbidden:
		p.site.AddError(r, f, "", err)
	default:
		return web.Response{}, err
	}
	return p.batchForm(ctx, r, by, b, f)
}

// batchForm shows the form of a new batch, or of b.
func (p pages) batchForm(ctx context.Context, r *web.Request, by actor.Actor, b *team.Batch, f *web.Form) (web.Response, error) {
	title, path := "batch.add.title", "/coach/batches/add"
	if b != nil {
		title, path = "batch.edit.title", pathOf(b.ID)+"/edit"
	}
	v := p.site.CoachView(r, "batches", title, by)
	v.Form, v.Path = f, path
	v.Data = map[string]any{"Batch": b, "Action": path, "Groups": scheduleGroups(f.Values), "Zones": web.OfferedZones(f)}
	return web.FormPage("batch_form", v), nil
}

// scheduleGroups returns the groups of a form, and one more that is empty.
func scheduleGroups(values url.Values) []scheduleGroup {
	last := 0
	for n := 1; n <= maxScheduleGroups; n++ {
		suffix := strconv.Itoa(n)
		if len(values["days"+suffix]) > 0 || values.Get("start"+suffix) != "" || values.Get("end"+suffix) != "" {
			last = n
		}
	}
	var groups []scheduleGroup
	for n := 1; n <= min(last+1, maxScheduleGroups); n++ {
		g := scheduleGroup{N: n}
		for _, day := range web.WeekdayOrder {
			name := team.WeekdayName(day)
			g.Days = append(g.Days, scheduleDay{name, int(day), slices.Contains(values["days"+strconv.Itoa(n)], name)})
		}
		groups = append(groups, g)
	}
	return groups
}

// batchValues returns the form of a batch as it is stored: days with the same times are one
// group.
func batchValues(b *team.Batch) url.Values {
	values := url.Values{"name": {b.Name}, "sport": {b.Sport}, "venue": {b.Venue}, "time_zone": {b.TimeZone}}
	groups := map[string]string{}
	for _, slot := range b.Schedule {
		times := slot.Start.String() + "-" + slot.End.String()
		n, known := groups[times]
		if !known {
			n = strconv.Itoa(len(groups) + 1)
			groups[times] = n
			values.Set("start"+n, slot.Start.String())
			values.Set("end"+n, slot.End.String())
		}
		values.Add("days"+n, team.WeekdayName(slot.Weekday))
	}
	return values
}

// readBatch reads the form into the body that the API takes. groups has the group of each
// slot of the schedule.
func readBatch(r *web.Request) (patch Patch, groups []int, err error) {
	body := map[string]any{"name": r.Value("name")}
	web.SetGiven(body, "sport", r.Value("sport"))
	web.SetGiven(body, "venue", r.Value("venue"))
	web.SetGiven(body, "time_zone", r.Value("time_zone"))
	schedule := []any{}
	for n := 1; n <= maxScheduleGroups; n++ {
		suffix := strconv.Itoa(n)
		start, end := clockTime(r.Value("start"+suffix)), clockTime(r.Value("end"+suffix))
		days := r.Form["days"+suffix]
		if len(days) == 0 && (start != "" || end != "") {
			days = []string{""} // a fault: no day is chosen
		}
		for _, day := range days {
			schedule = append(schedule, map[string]any{"weekday": day, "start": start, "end": end})
			groups = append(groups, n)
		}
	}
	body["schedule"] = schedule
	var faults wire.Faults
	var in request
	wire.Bind(body, &in, &faults)
	patch = in.read(&faults)
	if patch.Sport == nil {
		patch.Sport = new(string)
	}
	if patch.Venue == nil {
		patch.Venue = new(string)
	}
	for i := range faults { // the days of a group are one field
		faults[i].Pointer = strings.TrimSuffix(faults[i].Pointer, "/weekday")
		if strings.HasPrefix(faults[i].Pointer, "/schedule/") && strings.Count(faults[i].Pointer, "/") == 2 && faults[i].Code == "invalid_value" {
			faults[i].Code = "no_day"
		}
	}
	return patch, groups, faults.Err()
}

// clockTime returns HH:MM of what a browser sends for a time, which may have seconds.
func clockTime(text string) string {
	if len(text) == len("17:30:00") && strings.HasSuffix(text, ":00") {
		return text[:len("17:30")]
	}
	return text
}
