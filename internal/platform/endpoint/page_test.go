package endpoint_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/touchline/touchline/internal/platform/endpoint"
)

// TestQueryThatCannotBeDecoded: a list is refused if a parameter cannot be decoded. Without the
// parameter it would have all items.
func TestQueryThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	h := handlerFor(route{Method: "GET", Pattern: "/api/things", Query: endpoint.Paged("q"), Handle: endpoint.Handle(
		func(_ context.Context, r request[struct{}]) (response, error) {
			f := r.Faults
			endpoint.QueryPage[string](r.Meta, nil, "", &f)
			return endpoint.OK(r.Query.Get("q")), f.Err()
		})})
	for query, want := range map[string]string{
		"q=50%25": "", "limit=5&q=a%3Bb": "", "": "",
		"q=50%": "/q", "limit=5&q=a;b": "/q", "a%2Fb=%zz": "/a~1b", "%=1": "/%", "limit=0&q=%": "/q", "Q=1": "/Q", "limit=5&&_=1": "/_",
	} {
		w := send(h, "GET", "/api/things?"+query, "")
		var problem struct{ Errors []struct{ Pointer string } }
		if w.Code != 200 {
			if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if len(problem.Errors) > 0 {
			got = problem.Errors[0].Pointer
		}
		if got != want || (want == "") != (w.Code == 200) {
			t.Errorf("%q: got %d %s, want a fault of %q", query, w.Code, w.Body, want)
		}
	}
}
