package admin

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

const (
	// maxChangesWait is the longest time in seconds that a call may wait for a change.
	maxChangesWait = 30
	// changesPoll is how often a waiting call reads the feed, besides after each change.
	changesPoll = time.Second
	// changesTimeout limits a call. It leaves time for the last read.
	changesTimeout = 40 * time.Second
)

// changeResponse is the Change of openapi.yaml.
type changeResponse struct {
	Sequence       int64   `json:"sequence"`
	PlayerID       string  `json:"player_id"`
	Type           string  `json:"type"`
	Party          *string `json:"party"`
	GuardianStatus string  `json:"guardian_status"`
	StudentStatus  string  `json:"student_status"`
	At             string  `json:"at"`
}

func newChangeResponse(c operator.Change) changeResponse {
	return changeResponse{
		Sequence: c.Sequence, PlayerID: c.PlayerID, Type: c.Type, Party: wire.OrNull(string(c.Party)),
		GuardianStatus: c.GuardianStatus, StudentStatus: c.StudentStatus, At: wire.Timestamp(c.At),
	}
}

type changeList struct {
	Items      []changeResponse `json:"items"`
	NextCursor string           `json:"next_cursor"`
}

// changes serves GET /api/services/changes: the feed of changes. The cursors are valid
// with any token, so that a service can replace its token.
func (s *Server) changes(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	page := endpoint.QueryPage[operator.ChangeCursor](r.Meta, s.Vault.For(auth.ForCursors), "", &f)
	wait := queryWait(r, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	changes, next, err := s.awaitChanges(ctx, r.Caller.ID, page.After, page.Limit(), wait)
	if err != nil {
		return Response{}, err
	}
	list := changeList{Items: []changeResponse{}, NextCursor: page.Cursor(next)}
	for _, c := range changes {
		list.Items = append(list.Items, newChangeResponse(c))
	}
	return endpoint.OK(list), nil
}

// awaitChanges reads the feed until there is a change or the wait is over: after each commit
// of a change, and each second, because a wake of another replica can be lost. The wait also
// ends when the service shuts down.
func (s *Server) awaitChanges(ctx context.Context, tokenID string, after operator.ChangeCursor, limit int, wait time.Duration) ([]operator.Change, operator.ChangeCursor, error) {
	end := s.Now().Add(wait)
	if wait == 0 {
		return s.Changes.Read(ctx, after, limit)
	}
	// Subscribe before the first read, so that no commit is between them.
	waiting, err := s.Waiting.Subscribe(tokenID)
	if err != nil {
		return nil, after, err
	}
	defer waiting.Close()
	poll, stop := s.NewTicker(changesPoll)
	defer stop()
	for {
		changes, next, err := s.Changes.Read(ctx, after, limit)
		if err != nil || len(changes) > 0 || !s.Now().Before(end) {
			return changes, next, err
		}
		select {
		case <-ctx.Done():
			return nil, next, nil
		case <-waiting.Done():
			return nil, next, nil
		case <-waiting.Woken():
		case <-poll:
		}
	}
}

// queryWait returns the query parameter wait, at most maxChangesWait.
func queryWait(r Request[NoBody], f *wire.Faults) time.Duration {
	if !r.Query.Has("wait") {
		return 0
	}
	seconds, err := strconv.ParseUint(r.Query.Get("wait"), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // a number of more than 64 bits is above 30, too
		f.Add("/wait", "invalid_value", "This must be a whole number of seconds, from 0 to 30.")
	}
	return time.Duration(min(seconds, maxChangesWait)) * time.Second
}
