package training

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// handlers serves trainings as JSON.
type handlers struct {
	*Service
	api *api.Server
}

// Operations returns the operations of trainings for coaches and families.
func (s *Service) Operations(a *api.Server) []api.Route {
	const ofBatch, one = "/api/batches/{batch_id}/trainings", "/api/trainings/{training_id}"
	const family = "/api/me/players/{player_id}/trainings"
	h := handlers{s, a}
	return append(h.calendarOperations(), []api.Route{
		{Method: "GET", Pattern: ofBatch, Handle: endpoint.HandleID("batch_id", h.list), Authorize: api.CoachOnly, Query: endpoint.Paged("from", "to")},
		{Method: "POST", Pattern: ofBatch, Handle: a.Idempotent(endpoint.HandleID("batch_id", h.add), h.rebuild), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: one, Handle: handleTraining(h.get), Authorize: api.CoachOnly},
		{Method: "PATCH", Pattern: one, Handle: handleTraining(h.edit), Authorize: api.CoachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: one, Handle: handleTraining(h.cancel), Authorize: api.CoachOnly, Body: endpoint.OptionalJSON},
		{Method: "POST", Pattern: one + "/ask", Handle: a.Idempotent(handleTraining(h.ask), h.rebuildAsk), Authorize: api.CoachOnly, Body: endpoint.OptionalJSON},
		{Method: "GET", Pattern: family, Handle: endpoint.HandleID("player_id", h.listOfPlayer), Authorize: api.PartyOnly, Query: endpoint.Paged("from", "to")},
		{Method: "GET", Pattern: family + "/{training_id}", Handle: handleOfPlayer(h.ofPlayer), Authorize: api.PartyOnly},
		{Method: "PUT", Pattern: family + "/{training_id}/attending", Handle: handleOfPlayer(h.answer), Authorize: api.PartyOnly, Body: endpoint.JSON},
	}...)
}

// trainingID returns the id of a training in the path, or not_found.
func trainingID(m api.Meta) (string, error) {
	id := m.PathPart("training_id")
	if _, _, _, scheduled := parseSlotID(id); !scheduled && !endpoint.IsID(id) {
		return "", fault.Missing()
	}
	return id, nil
}

// handleTraining is endpoint.HandleID for a training.
func handleTraining[T any](h func(ctx context.Context, r api.Request[T], id string) (api.Response, error)) endpoint.Handler[api.Caller] {
	return endpoint.Handle(func(ctx context.Context, r api.Request[T]) (api.Response, error) {
		id, err := trainingID(r.Meta)
		if err != nil {
			return api.Response{}, err
		}
		return h(ctx, r, id)
	})
}

// handleOfPlayer is endpoint.HandleID for a training of a player.
func handleOfPlayer[T any](h func(ctx context.Context, r api.Request[T], playerID, id string) (api.Response, error)) endpoint.Handler[api.Caller] {
	return endpoint.HandleID("player_id", func(ctx context.Context, r api.Request[T], playerID string) (api.Response, error) {
		id, err := trainingID(r.Meta)
		if err != nil {
			id = "" // not found, after the player
		}
		return h(ctx, r, playerID, id)
	})
}

// defaultDays is the length of a list without to.
const defaultDays = 28

// readPeriod reads the days of a list. Without from it begins today.
func readPeriod(query url.Values, today team.Date, f *wire.Faults) Period {
	p := Period{From: today}
	text := func(name string) string { return api.QueryText(query, name, f, wire.ParseRules("")) }
	if from := text("from"); from != "" {
		p.From = readDate("/from", from, f)
	}
	if p.From == "" {
		p.From = today
	}
	p.To = p.From.AddDays(defaultDays - 1)
	if to := text("to"); to != "" {
		p.To = readDate("/to", to, f)
	}
	if !f.Has("/from") && !f.Has("/to") && (p.To < p.From || p.To > p.From.AddDays(MaxDays-1)) {
		f.Add("/to", "out_of_range", "This must be at most 92 days after from, and not before it.")
	}
	return p
}

// list serves GET /api/batches/{batch_id}/trainings.
func (h handlers) list(ctx context.Context, r api.Request[api.NoBody], batchID string) (api.Response, error) {
	b, err := store.BatchOf(ctx, h.DB, r.Caller.AccountID, batchID)
	if err != nil {
		return api.Response{}, err
	}
	p, page := readPeriod(r.Query, team.DateOf(h.Now(), team.Zone(b.TimeZone)), &r.Faults), h.api.Page(r.Meta, &r.Faults)
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	all, err := h.List(ctx, r.Caller.Actor, batchID, p)
	if err != nil {
		return api.Response{}, err
	}
	key := func(t *Training) api.Keyset { return api.Keyset{At: t.StartsAt().UnixMicro(), ID: t.ID} }
	return endpoint.PageResponse(page, onPage(page, all, key), newResponse, key), nil
}

// onPage returns the trainings of a page, and one more if there is a next page. A list has at most MaxDays, so it is
// read whole.
func onPage[T any](p endpoint.Page[api.Keyset], all []T, key func(T) api.Keyset) []T {
	if p.After.ID != "" {
		all = slices.DeleteFunc(all, func(t T) bool {
			k := key(t)
			return cmp.Or(cmp.Compare(k.At, p.After.At), strings.Compare(k.ID, p.After.ID)) <= 0
		})
	}
	return all[:min(len(all), p.ReadLimit())]
}

// add serves POST /api/batches/{batch_id}/trainings.
func (h handlers) add(ctx context.Context, r api.Request[request], batchID string) (api.Response, error) {
	n := r.Body.read(&r.Faults)
	if len(r.Faults) > 0 {
		if _, err := store.BatchOf(ctx, h.DB, r.Caller.AccountID, batchID); err != nil {
			return api.Response{}, err
		}
		return api.Response{}, r.Faults.Err()
	}
	t, err := h.Add(ctx, r.Caller.Actor, batchID, n)
	if err != nil {
		return api.Response{}, err
	}
	return h.created(ctx, r.Caller.Actor, t)
}

// created is the response of add.
func (h handlers) created(ctx context.Context, by actor.Actor, t *Training) (api.Response, error) {
	told, err := h.Telling(ctx, by, t.ID)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/api/trainings/"+t.ID, addedResponse{newResponse(t), api.NewTold(told)}), nil
}

// rebuild returns the response of add again.
func (h handlers) rebuild(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	t, _, err := h.Training(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return api.Response{}, err
	}
	return h.created(ctx, m.Caller.Actor, t)
}

// details is the response of a call that reads or changes one training.
func (h handlers) details(ctx context.Context, by actor.Actor, t *Training, players []PlayerAnswer) (api.Response, error) {
	told, err := h.Telling(ctx, by, t.ID)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newDetailsResponse(t, players, told)), nil
}

// get serves GET /api/trainings/{training_id}.
func (h handlers) get(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	t, players, err := h.Training(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	return h.details(ctx, r.Caller.Actor, t, players)
}

// edit serves PATCH /api/trainings/{training_id}.
func (h handlers) edit(ctx context.Context, r api.Request[patchRequest], id string) (api.Response, error) {
	p := r.Body.read(&r.Faults)
	if err := h.faults(ctx, r.Meta, id, r.Faults); err != nil {
		return api.Response{}, err
	}
	t, players, err := h.Edit(ctx, r.Caller.Actor, id, p)
	if err != nil {
		return api.Response{}, err
	}
	return h.details(ctx, r.Caller.Actor, t, players)
}

// cancel serves DELETE /api/trainings/{training_id}.
func (h handlers) cancel(ctx context.Context, r api.Request[cancelRequest], id string) (api.Response, error) {
	if err := h.faults(ctx, r.Meta, id, r.Faults); err != nil {
		return api.Response{}, err
	}
	state := Cancelled
	t, players, err := h.Edit(ctx, r.Caller.Actor, id, Patch{State: &state, Reason: r.Body.Reason.Some()})
	if err != nil {
		return api.Response{}, err
	}
	return h.details(ctx, r.Caller.Actor, t, players)
}

// askResponse is the TrainingAsked of openapi.yaml.
type askResponse struct {
	TrainingID string `json:"training_id"`
	Asked      int    `json:"asked"`
}

// ask serves POST /api/trainings/{training_id}/ask.
func (h handlers) ask(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	_, asked, err := h.Ask(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(askResponse{id, asked}), nil
}

// rebuildAsk returns the response of ask again.
func (h handlers) rebuildAsk(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	if _, _, err := h.Training(ctx, m.Caller.Actor, w.ID); err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(askResponse{w.ID, w.Number}), nil
}

// faults returns the faults of a request about a training. One of another coach is not_found, whatever
// the faults.
func (h handlers) faults(ctx context.Context, m api.Meta, id string, f wire.Faults) error {
	if len(f) > 0 {
		if _, _, err := h.Training(ctx, m.Caller.Actor, id); err != nil {
			return err
		}
	}
	return f.Err()
}

// listOfPlayer serves GET /api/me/players/{player_id}/trainings.
func (h handlers) listOfPlayer(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
	page := h.api.Page(r.Meta, &r.Faults)
	all, err := h.upcoming(ctx, r.Caller.Actor, playerID, func(today team.Date) Period { return readPeriod(r.Query, today, &r.Faults) })
	if err == nil { // report a fault of the query only if the caller may see the player
		err = r.Faults.Err()
	}
	if err != nil {
		return api.Response{}, err
	}
	key := func(t OfPlayer) api.Keyset { return api.Keyset{At: t.StartsAt().UnixMicro(), ID: t.ID} }
	return endpoint.PageResponse(page, onPage(page, all, key), func(t OfPlayer) ofPlayerResponse { return newOfPlayerResponse(t, h.Now()) }, key), nil
}

// ofPlayer serves GET /api/me/players/{player_id}/trainings/{training_id}.
func (h handlers) ofPlayer(ctx context.Context, r api.Request[api.NoBody], playerID, id string) (api.Response, error) {
	return h.seen(h.OfPlayer(ctx, r.Caller.Actor, playerID, id))
}

func (h handlers) seen(t OfPlayer, err error) (api.Response, error) {
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newOfPlayerResponse(t, h.Now())), nil
}

// answer serves PUT /api/me/players/{player_id}/trainings/{training_id}/attending.
func (h handlers) answer(ctx context.Context, r api.Request[answerRequest], playerID, id string) (api.Response, error) {
	if len(r.Faults) > 0 {
		if _, err := h.OfPlayer(ctx, r.Caller.Actor, playerID, id); err != nil {
			return api.Response{}, err
		}
		return api.Response{}, r.Faults.Err()
	}
	return h.seen(h.Answer(ctx, r.Caller.Actor, playerID, id, r.Body.Attending, r.Body.Reason.Value))
}

// trainingResponse is the Training of openapi.yaml.
type trainingResponse struct {
	TrainingID string         `json:"training_id"`
	BatchID    string         `json:"batch_id"`
	Date       team.Date      `json:"date"`
	Start      string         `json:"start"`
	End        string         `json:"end"`
	StartsAt   string         `json:"starts_at"`
	EndsAt     string         `json:"ends_at"`
	Kind       Kind           `json:"kind"`
	Title      *string        `json:"title"`
	Venue      *string        `json:"venue"`
	Opponent   *string        `json:"opponent"`
	Scheduled  bool           `json:"scheduled"`
	State      State          `json:"state"`
	Reason     *string        `json:"reason"`
	Counts     countsResponse `json:"counts"`
	UpdatedAt  *string        `json:"updated_at"`
}

type countsResponse struct {
	Comes      int `json:"comes"`
	CannotCome int `json:"cannot_come"`
	NoAnswer   int `json:"no_answer"`
}

func newResponse(t *Training) trainingResponse {
	return trainingResponse{
		t.ID, t.Batch.ID, t.Date, t.Start.String(), t.End.String(), wire.Timestamp(t.StartsAt()), wire.Timestamp(t.EndsAt()), t.Kind,
		wire.OrNull(t.Title), wire.OrNull(t.Venue), wire.OrNull(t.Opponent), t.Slot > 0, t.State(), wire.OrNull(t.Reason),
		countsResponse(t.Counts), wire.TimestampOrNull(t.UpdatedAt),
	}
}

// addedResponse is a BatchTraining of openapi.yaml without the players.
type addedResponse struct {
	trainingResponse
	Told *api.ToldResponse `json:"told"`
}

// detailsResponse is the TrainingDetails of openapi.yaml: a training and who comes.
type detailsResponse struct {
	trainingResponse
	Players []playerResponse  `json:"players"`
	Told    *api.ToldResponse `json:"told"`
}

type playerResponse struct {
	PlayerID    string `json:"player_id"`
	StudentName string `json:"student_name"`
	answerResponse
}

// answerResponse has nulls without an answer.
type answerResponse struct {
	Attending  *bool   `json:"attending"`
	Reason     *string `json:"reason"`
	AnsweredBy *string `json:"answered_by"`
	AnsweredAt *string `json:"answered_at"`
}

func newAnswerResponse(a *Answer) answerResponse {
	if a == nil {
		return answerResponse{}
	}
	return answerResponse{&a.Attending, wire.OrNull(a.Reason), wire.OrNull(string(a.Party)), wire.TimestampOrNull(a.AnsweredAt)}
}

func newDetailsResponse(t *Training, players []PlayerAnswer, told *notice.Telling) detailsResponse {
	d := detailsResponse{newResponse(t), []playerResponse{}, api.NewTold(told)}
	for _, p := range players {
		d.Players = append(d.Players, playerResponse{p.PlayerID, p.StudentName, newAnswerResponse(p.Answer)})
	}
	return d
}

// ofPlayerResponse is the TrainingOfPlayer of openapi.yaml.
type ofPlayerResponse struct {
	TrainingID      string          `json:"training_id"`
	BatchID         string          `json:"batch_id"`
	BatchName       string          `json:"batch_name"`
	Date            team.Date       `json:"date"`
	StartsAt        string          `json:"starts_at"`
	EndsAt          string          `json:"ends_at"`
	TimeZone        string          `json:"time_zone"`
	Kind            Kind            `json:"kind"`
	Title           *string         `json:"title"`
	Venue           *string         `json:"venue"`
	Opponent        *string         `json:"opponent"`
	State           State           `json:"state"`
	CancelledReason *string         `json:"cancelled_reason"`
	Answer          *answerResponse `json:"answer"`
	CanAnswer       bool            `json:"can_answer"`
}

func newOfPlayerResponse(t OfPlayer, now time.Time) ofPlayerResponse {
	var answer *answerResponse
	if t.Answer != nil {
		a := newAnswerResponse(t.Answer)
		answer = &a
	}
	return ofPlayerResponse{
		t.ID, t.Batch.ID, t.Batch.Name, t.Date, wire.Timestamp(t.StartsAt()), wire.Timestamp(t.EndsAt()), t.Batch.TimeZone, t.Kind,
		wire.OrNull(t.Title), wire.OrNull(t.Venue), wire.OrNull(t.Opponent), t.State(), wire.OrNull(t.Reason), answer, t.CanAnswer(now),
	}
}
