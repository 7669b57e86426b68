package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Source returns the changes of a feed, one batch after the other, from its oldest change. end says that
// the feed has no more at this moment; then the next call waits.
type Source interface {
	Next(ctx context.Context) (changes []Change, end bool, err error)
}

const (
	// followBatch is the number of changes of a batch.
	followBatch = 200
	// followPoll is the wait of DatabaseSource at the end of the feed.
	followPoll = time.Second
)

// DatabaseSource reads the feed of a database.
type DatabaseSource struct {
	Feed *Service

	at    Cursor
	ended bool
}

// Next implements Source. After the end of the feed it waits for a second.
func (d *DatabaseSource) Next(ctx context.Context) (changes []Change, end bool, err error) {
	if d.ended {
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-time.After(followPoll):
		}
	}
	changes, d.at, err = d.Feed.Read(ctx, d.at, followBatch)
	d.ended = len(changes) < followBatch
	return changes, d.ended, err
}

// ServiceSource reads the feed of a service with a token of the scope availability.
type ServiceSource struct {
	// URL is the address of the operators' listener.
	URL    string
	Token  string
	Client *http.Client

	cursor string
	ended  bool
}

// Next implements Source. After the end of the feed it waits for up to 30 s until there is a
// change. It returns fault.Unavailable if the service does not respond.
func (s *ServiceSource) Next(ctx context.Context) (changes []Change, end bool, err error) {
	query := url.Values{"limit": {strconv.Itoa(followBatch)}}
	if s.cursor != "" {
		query.Set("cursor", s.cursor)
	}
	if s.ended {
		query.Set("wait", strconv.Itoa(maxChangesWait))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.URL, "/")+"/api/services/changes?"+query.Encode(), nil)
	if err != nil {
		return nil, false, err
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	resp, err := s.Client.Do(r)
	if err != nil {
		return nil, false, fault.Down(fmt.Errorf("read the feed of changes: %w", err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxChangesResponse))
	if err != nil {
		return nil, false, fault.Down(fmt.Errorf("read the feed of changes: %w", err))
	}
	if resp.StatusCode != http.StatusOK {
		var problem struct {
			Code   string `json:"code"`
			Detail string `json:"detail"`
		}
		_ = json.Unmarshal(body, &problem)
		err := fmt.Errorf("read the feed of changes: %d %s: %s", resp.StatusCode, problem.Code, problem.Detail)
		if resp.StatusCode >= 500 {
			err = fault.Down(err)
		}
		return nil, false, err
	}
	var list changeList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, false, fmt.Errorf("read the feed of changes: %w", err)
	}
	s.cursor, s.ended = list.NextCursor, len(list.Items) < followBatch
	changes = make([]Change, len(list.Items))
	for i, item := range list.Items {
		if changes[i], err = item.change(); err != nil {
			return nil, false, fmt.Errorf("read the feed of changes: %w", err)
		}
	}
	return changes, s.ended, nil
}

// maxChangesResponse bounds a response of the feed in bytes.
const maxChangesResponse = 4 << 20

// change returns the Change of an item, without its position.
func (r changeResponse) change() (Change, error) {
	at, err := time.Parse(time.RFC3339Nano, r.At)
	c := Change{PlayerID: r.PlayerID, Sequence: r.Sequence, Type: r.Type, GuardianID: r.GuardianID, GuardianStatus: r.GuardianStatus, StudentStatus: r.StudentStatus, At: at}
	if r.Party != nil {
		c.Party = actor.Role(*r.Party)
	}
	return c, err
}
