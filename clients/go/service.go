package touchline

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Change is a change of a player: states and ids, never names or numbers.
type Change struct {
	Sequence       int64     `json:"sequence"`
	PlayerID       string    `json:"player_id"`
	Type           string    `json:"type"`
	Party          *string   `json:"party"`
	GuardianStatus string    `json:"guardian_status"`
	StudentStatus  string    `json:"student_status"`
	At             time.Time `json:"at"`
}

// Availability is what the parties of a player can use.
type Availability struct {
	PlayerID           string          `json:"player_id"`
	Sequence           int64           `json:"sequence"`
	GuardianAppEnabled bool            `json:"guardian_app_enabled"`
	StudentAppEnabled  bool            `json:"student_app_enabled"`
	Services           json.RawMessage `json:"services"`
}

// Service is a client of the operators' listener with a service token.
type Service struct {
	base, token string
	http        *http.Client
}

// NewService returns a client for a token of `touchline admin token create --scopes availability`. next may be nil.
func NewService(baseURL, token string, next http.RoundTripper) *Service {
	if next == nil {
		next = http.DefaultTransport
	}
	return &Service{strings.TrimRight(baseURL, "/"), token, &http.Client{Transport: transport{next}}}
}

// Availability returns the availability of players, in calls of 200. Unknown and deleted players are left out.
func (s *Service) Availability(ctx context.Context, playerIDs []string) (map[string]Availability, error) {
	found := map[string]Availability{}
	for ids := range slices.Chunk(playerIDs, 200) {
		var out page[Availability]
		if err := s.call(ctx, http.MethodPost, "/api/services/availability/query", map[string]any{"player_ids": ids}, &out); err != nil {
			return nil, err
		}
		for _, a := range out.Items {
			found[a.PlayerID] = a
		}
	}
	return found, nil
}

// Feed says where a follower begins and what it does.
type Feed struct {
	// Cursor is the stored place in the feed; nil means that there is none yet.
	Cursor *string
	// Save stores the place in the feed, after Handle.
	Save func(ctx context.Context, cursor string) error
	// Handle handles a page of changes. A page can come twice.
	Handle func(ctx context.Context, changes []Change) error
	// Start may be nil. It is called before the first change and after the cursor has expired: read the availability of all your
	// players again.
	Start func(ctx context.Context) error
}

// Follow follows the feed until the context ends, which is no error, or until Save, Handle or Start fail. Outages of the service
// only delay it.
func (s *Service) Follow(ctx context.Context, feed Feed) error {
	cursor := feed.Cursor
	for failures := 0; ctx.Err() == nil; {
		err := s.step(ctx, feed, &cursor)
		if err == nil {
			failures = 0
			continue
		}
		p, isProblem := errors.AsType[*Problem](err)
		_, network := errors.AsType[*url.Error](err)
		switch {
		case ctx.Err() != nil:
			return nil
		case isProblem && p.Code == "cursor_expired":
			cursor = nil
		case network, isProblem && (p.Status >= 500 || p.Status == http.StatusTooManyRequests):
			failures++
			_ = sleep(ctx, growingWait(failures)) // the loop checks the context
		default:
			return err
		}
	}
	return nil
}

func (s *Service) step(ctx context.Context, feed Feed, cursor **string) error {
	if *cursor == nil {
		return s.start(ctx, feed, cursor)
	}
	query := url.Values{"wait": {"30"}}
	if **cursor != "" {
		query.Set("cursor", **cursor)
	}
	var changes page[Change]
	if err := s.call(ctx, http.MethodGet, withQuery("/api/services/changes", query), nil, &changes); err != nil {
		return err
	}
	if len(changes.Items) > 0 {
		if err := feed.Handle(ctx, changes.Items); err != nil {
			return err
		}
	}
	if changes.NextCursor == nil || *changes.NextCursor == **cursor {
		return nil
	}
	*cursor = changes.NextCursor
	return feed.Save(ctx, **cursor)
}

// start skips to the end of the feed: the changes before it are in the availability that Start reads.
func (s *Service) start(ctx context.Context, feed Feed, cursor **string) error {
	query := url.Values{"limit": {"100"}}
	for {
		var changes page[Change]
		if err := s.call(ctx, http.MethodGet, withQuery("/api/services/changes", query), nil, &changes); err != nil {
			return err
		}
		query.Set("cursor", *changes.NextCursor)
		if len(changes.Items) == 0 {
			break
		}
	}
	if feed.Start != nil {
		if err := feed.Start(ctx); err != nil {
			return err
		}
	}
	end := query.Get("cursor")
	*cursor = &end
	return feed.Save(ctx, end)
}

func (s *Service) call(ctx context.Context, method, path string, in, out any) error {
	req, err := newRequest(ctx, method, s.base+path, in)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	return decode(s.http, req, out)
}
