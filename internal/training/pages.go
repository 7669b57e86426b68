package training

import (
	"context"
	"embed"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// pages serves the pages about trainings.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the pages about trainings for coaches, and the answers of families.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	const one = "/coach/trainings/{training_id}"
	routes := []web.Route{
		{Method: "GET", Pattern: "/coach/batches/{batch_id}/trainings/add", Handle: site.SignedIn(actor.Coach, p.addPage)},
		{Method: "POST", Pattern: "/coach/batches/{batch_id}/trainings/add", Handle: site.SignedIn(actor.Coach, p.add)},
		{Method: "GET", Pattern: "/coach/trainings/add", Handle: site.SignedIn(actor.Coach, p.chooseBatch)},
		{Method: "GET", Pattern: one, Handle: site.SignedIn(actor.Coach, p.training)},
		{Method: "GET", Pattern: one + "/edit", Handle: site.SignedIn(actor.Coach, p.editPage)},
		{Method: "POST", Pattern: one + "/edit", Handle: site.SignedIn(actor.Coach, p.edit)},
		{Method: "GET", Pattern: one + "/cancel", Handle: site.SignedIn(actor.Coach, p.cancelPage)},
		{Method: "POST", Pattern: one + "/cancel", Handle: site.SignedIn(actor.Coach, p.cancel)},
		{Method: "POST", Pattern: one + "/restore", Handle: site.SignedIn(actor.Coach, p.restore)},
		{Method: "POST", Pattern: one + "/ask", Handle: site.SignedIn(actor.Coach, p.ask)},
		{Method: "GET", Pattern: "/coach/calendar", Handle: site.SignedIn(actor.Coach, p.coachCalendar)},
		{Method: "POST", Pattern: "/coach/calendar", Handle: site.SignedIn(actor.Coach, p.changeCalendar)},
		{Method: "GET", Pattern: "/t/{secret}", Handle: p.linkPage},
		{Method: "POST", Pattern: "/t/{secret}", Handle: p.answerByLink, Urgent: true},
	}
	for _, role := range approval.Parties {
		player := "/me/" + string(role) + "/players/{player_id}"
		routes = append(
			routes,
			web.Route{Method: "POST", Pattern: player + "/trainings/{training_id}/attending", Handle: site.SignedIn(role, p.answer)},
			web.Route{Method: "GET", Pattern: player + "/calendar", Handle: site.SignedIn(role, p.familyCalendar)},
			web.Route{Method: "POST", Pattern: player + "/calendar", Handle: site.SignedIn(role, p.changeCalendar)},
		)
	}
	return routes
}

func pathOf(id string) string { return "/coach/trainings/" + id }

// inPath returns the id of the training in the path.
func inPath(r *web.Request) (string, error) {
	id := r.PathValue("training_id")
	if _, _, _, scheduled := parseSlotID(id); !scheduled && !endpoint.IsID(id) {
		return "", fault.Missing()
	}
	return id, nil
}

// load returns the training in the path with the answers.
func (p pages) load(ctx context.Context, r *web.Request, by actor.Actor) (*Training, []PlayerAnswer, error) {
	id, err := inPath(r)
	if err != nil {
		return nil, nil, err
	}
	return p.Training(ctx, by, id)
}

// training serves GET /coach/trainings/{training_id}: who comes, those without an answer first.
func (p pages) training(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	t, players, err := p.load(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "batches", "training.title", by)
	v.TitleName = t.Batch.Name
	var groups [3][]PlayerAnswer // without an answer, cannot come, come
	for _, player := range players {
		switch {
		case player.Answer == nil:
			groups[0] = append(groups[0], player)
		case !player.Answer.Attending:
			groups[1] = append(groups[1], player)
		default:
			groups[2] = append(groups[2], player)
		}
	}
	now := p.Now()
	told, err := p.told(ctx, v, by, t, r.Value("done"))
	if err != nil {
		return web.Response{}, err
	}
	v.Data = map[string]any{
		"Training": t, "Told": told, "None": groups[0], "Cannot": groups[1], "Comes": groups[2], "Done": v.TextOr("training.done."+r.Value("done"), ""),
		"CanChange": t.CheckChange(now) == nil, "CanAsk": len(groups[0]) > 0 && t.CanAnswer(now) && t.Batch.CheckOpen() == nil, "Sheet": t.Date <= team.DateOf(now, t.zone()),
	}
	return web.Page("training", v), nil
}

// tellingOf has what the record of a telling says for each result that the page of a training shows.
var tellingOf = map[string]string{
	"added": tellings[added], "saved": tellings[edited], "cancelled": tellings[cancelled], "restored": tellings[restored], "asked": tellings[askedToAnswer],
}

// told returns who was told of what the coach just did to a training, with a text for the rest.
func (p pages) told(ctx context.Context, v *web.View, by actor.Actor, t *Training, done string) (*web.TellingView, error) {
	what := tellingOf[done]
	if what == "" {
		return nil, nil
	}
	text := v.MustT("training.write."+what, "Batch", t.Batch.Name, "What", whatIs(v, t), "Day", v.TeamDay(t.Date), "Start", t.Start.String(), "End", t.End.String())
	switch {
	case what == tellings[cancelled] && t.Reason != "":
		text += " " + t.Reason
	case what != tellings[cancelled] && t.Venue != "":
		text += " " + t.Venue
	}
	return p.site.Telling(ctx, by, t.ID, what, text)
}

// whatIs returns what a training is, in words.
func whatIs(v *web.View, t *Training) string {
	switch {
	case t.Kind == Match && t.Opponent != "":
		return v.MustT("training.match.against", "Opponent", t.Opponent)
	case t.Title != "":
		return t.Title
	case t.Kind == Other:
		return v.MustT("training.title")
	}
	return v.MustT("training.kind." + string(t.Kind))
}

// batchesOffered limits the batches of chooseBatch.
const batchesOffered = 50

// chooseBatch serves GET /coach/trainings/add: it goes to the form of a batch, which a coach with several
// chooses first.
func (p pages) chooseBatch(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	batches, err := store.BatchNames(ctx, p.DB, by.AccountID, batchesOffered)
	if err != nil {
		return web.Response{}, err
	}
	if len(batches) == 1 {
		return web.Redirect("/coach/batches/" + batches[0].ID + "/trainings/add"), nil
	}
	v := p.site.CoachView(r, "today", "training.add", by)
	v.Data = batches
	return web.Page("training_batch", v), nil
}

// addPage serves GET …/trainings/add.
func (p pages) addPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	b, err := store.BatchOf(ctx, p.DB, by.AccountID, r.PathValue("batch_id"))
	if err != nil {
		return web.Response{}, err
	}
	return p.form(ctx, r, by, b, nil, r.Restored(&web.Form{Values: url.Values{web.RequestField: {p.NewID()}, "kind": {string(Match)}}}))
}

// add serves POST …/trainings/add. The same form sent twice adds one training.
func (p pages) add(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	b, err := store.BatchOf(ctx, p.DB, by.AccountID, r.PathValue("batch_id"))
	if err != nil {
		return web.Response{}, err
	}
	body := map[string]any{"date": r.Value("date"), "start": clockTime(r.Value("start")), "end": clockTime(r.Value("end"))}
	for _, name := range []string{"kind", "title", "venue", "opponent"} {
		web.SetGiven(body, name, r.Value(name))
	}
	var faults wire.Faults
	var in request
	wire.Bind(body, &in, &faults)
	n := in.read(&faults)
	if n.ID = r.Value(web.RequestField); !endpoint.IsID(n.ID) {
		n.ID = p.NewID()
	}
	var t *Training
	if err = faults.Err(); err == nil {
		if t, err = p.Add(ctx, by, b.ID, n); err == nil {
			return web.Redirect(pathOf(t.ID) + "?done=added"), nil
		}
	}
	return p.faults(ctx, r, by, b, nil, err)
}

// clockTime returns HH:MM of what a browser sends for a time, which may have seconds.
func clockTime(text string) string {
	if len(text) == len("17:30:00") && strings.HasSuffix(text, ":00") {
		return text[:len("17:30")]
	}
	return text
}

// editPage serves GET …/edit.
func (p pages) editPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	t, _, err := p.load(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	if t.CheckChange(p.Now()) != nil || t.State() == Cancelled {
		return web.Redirect(pathOf(t.ID)), nil
	}
	values := url.Values{
		"date": {string(t.Date)}, "start": {t.Start.String()}, "end": {t.End.String()}, "kind": {string(t.Kind)}, "title": {t.Title}, "venue": {t.Venue}, "opponent": {t.Opponent},
	}
	return p.form(ctx, r, by, t.Batch, t, r.Restored(&web.Form{Values: values}))
}

// edit serves POST …/edit. The same form sent twice changes nothing more.
func (p pages) edit(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	t, _, err := p.load(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	body := map[string]any{"start": clockTime(r.Value("start")), "end": clockTime(r.Value("end")), "kind": r.Value("kind")}
	if t.Slot == 0 {
		body["date"] = r.Value("date")
	}
	for name, value := range map[string]string{"title": r.Value("title"), "venue": r.Value("venue"), "opponent": r.Value("opponent")} {
		if body[name] = nil; value != "" && !(name == "venue" && value == t.Batch.Venue) {
			body[name] = value
		}
	}
	var faults wire.Faults
	var in patchRequest
	wire.Bind(body, &in, &faults)
	patch := in.read(&faults)
	if err = faults.Err(); err == nil {
		if _, _, err = p.Edit(ctx, by, t.ID, patch); err == nil {
			return web.Redirect(pathOf(t.ID) + "?done=saved"), nil
		}
	}
	return p.faults(ctx, r, by, t.Batch, t, err)
}

// faults shows the form again with an error that the coach can correct.
func (p pages) faults(ctx context.Context, r *web.Request, by actor.Actor, b *team.Batch, t *Training, err error) (web.Response, error) {
	f := &web.Form{Values: r.Form}
	if fault.CodeOf(err) == "idempotency_key_reused" {
		f.Values.Set(web.RequestField, p.NewID())
	}
	known, ok := errors.AsType[*fault.Error](err)
	switch {
	case ok && p.site.AddFaults(r, f, err, nil):
	case ok && (known.Kind == fault.Conflict || known.Kind == fault.Forbidden):
		p.site.AddError(r, f, "", err)
	default:
		return web.Response{}, err
	}
	return p.form(ctx, r, by, b, t, f)
}

// form shows the form of a new training of b, or of t.
func (p pages) form(ctx context.Context, r *web.Request, by actor.Actor, b *team.Batch, t *Training, f *web.Form) (web.Response, error) {
	title, path := "training.add", "/coach/batches/"+b.ID+"/trainings/add"
	if t != nil {
		title, path = "training.edit", pathOf(t.ID)+"/edit"
	}
	v := p.site.CoachView(r, "batches", title, by)
	v.TitleName = b.Name
	v.Form, v.Path = f, path
	v.Data = map[string]any{"Batch": b, "Training": t, "Title": title, "Action": path, "Kinds": Kinds}
	return web.FormPage("training_form", v), nil
}

// cancelPage serves GET …/cancel: the reason, which the families read.
func (p pages) cancelPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	t, _, err := p.load(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	if t.CheckChange(p.Now()) != nil || t.State() == Cancelled {
		return web.Redirect(pathOf(t.ID)), nil
	}
	return p.cancelForm(ctx, r, by, t, r.Restored(new(web.Form)))
}

func (p pages) cancelForm(ctx context.Context, r *web.Request, by actor.Actor, t *Training, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "batches", "training.cancel", by)
	v.TitleName = t.Batch.Name
	v.Form, v.Path = f, pathOf(t.ID)+"/cancel"
	v.Data = t
	return web.FormPage("training_cancel", v), nil
}

// cancel serves POST …/cancel. The same form sent twice cancels once.
func (p pages) cancel(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	t, _, err := p.load(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	var faults wire.Faults
	var in cancelRequest
	wire.Bind(map[string]any{"reason": r.Value("reason")}, &in, &faults)
	if err = faults.Err(); err == nil {
		state := Cancelled
		if _, _, err = p.Edit(ctx, by, t.ID, Patch{State: &state, Reason: in.Reason.Some()}); err == nil {
			return web.Redirect(pathOf(t.ID) + "?done=cancelled"), nil
		}
	}
	f := &web.Form{Values: r.Form}
	switch {
	case p.site.AddFaults(r, f, err, nil):
	case fault.KindOf(err) == fault.Conflict || fault.KindOf(err) == fault.Forbidden:
		p.site.AddError(r, f, "", err)
	default:
		return web.Response{}, err
	}
	return p.cancelForm(ctx, r, by, t, f)
}

// restore serves POST …/restore: the training takes place after all.
func (p pages) restore(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id, err := inPath(r)
	if err != nil {
		return web.Response{}, err
	}
	state := Planned
	_, _, err = p.Edit(ctx, by, id, Patch{State: &state})
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Invalid:
		if err != nil {
			return web.Redirect(pathOf(id) + "?done=not_restored"), nil
		}
	}
	return web.Redirect(pathOf(id) + "?done=restored"), err
}

// readAnswer reads the form of an answer. A player who comes has no reason.
func readAnswer(r *web.Request) (in answerRequest, ok bool) {
	attending := r.Value("attending")
	body := map[string]any{"attending": attending == "yes"}
	if attending != "yes" {
		web.SetGiven(body, "reason", r.Value("reason"))
	}
	var faults wire.Faults
	wire.Bind(body, &in, &faults)
	return in, len(faults) == 0 && slices.Contains([]string{"yes", "no"}, attending)
}

// answer serves POST /me/{role}/players/{player_id}/trainings/{training_id}/attending and returns to the
// page with the buttons.
func (p pages) answer(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	playerID := r.PathValue("player_id")
	id, err := inPath(r)
	if err != nil {
		return web.Response{}, err
	}
	home := "/me/" + string(by.Role)
	player := home + "/players/" + playerID
	back := player + "/schedule"
	if to := r.Value("back"); to == home || to == player {
		back = to
	}
	in, ok := readAnswer(r)
	if !ok {
		return web.Redirect(back + "?answered=invalid#training-" + id), nil
	}
	_, err = p.Answer(ctx, by, playerID, id, in.Attending, in.Reason.Value)
	switch code := fault.CodeOf(err); {
	case code == "training_begun" || code == "training_cancelled":
		return web.Redirect(back + "?answered=" + code + "#training-" + id), nil
	case err != nil:
		return web.Response{}, err
	}
	return web.Redirect(back + "#training-" + id), nil
}
