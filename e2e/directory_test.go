package e2e_test

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

func visibilityBody(visible bool, show ...string) map[string]any {
	if show == nil {
		show = []string{}
	}
	return map[string]any{"visible": visible, "show": show}
}

// search searches the directory without a session and returns the ids found.
func search(t *testing.T, s *touchlinetest.Service, query string) []string {
	t.Helper()
	ids := []string{}
	for _, item := range s.Call(t, "GET", "/api/coaches"+query, "", nil).Want(t, 200).Items() {
		ids = append(ids, item["coach_id"].(string))
	}
	return ids
}

// TestDirectory: a coach is hidden by default, becomes visible on request, is
// found by shown fields only, and can hide again.
func TestDirectory(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		at := "/api/coaches/" + coach.ID
		s.Call(t, "GET", at, "", nil).Want(t, 404, "not_found")
		rest := coach.Call(t, "GET", "/api/coach/visibility", nil).Want(t, 200)
		if rest.String("visible") != "false" || rest.String("listed") != "false" || rest.String("show") != "[]" || rest.JSON["blocked_by"] != nil {
			t.Errorf("default visibility: got %s", rest.Body)
		}
		set := coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "sports", "name", "verified")).Want(t, 200)
		if set.String("visible") != "true" || set.String("listed") != "true" || set.String("show") != "[name sports verified]" {
			t.Errorf("set visibility: got %s", set.Body)
		}
		if read := coach.Call(t, "GET", "/api/coach/visibility", nil).Want(t, 200); string(read.Body) != string(set.Body) {
			t.Errorf("visibility: got %s, want %s", read.Body, set.Body)
		}
		if p := coach.Call(t, "GET", "/api/coach/profile", nil).Want(t, 200); p.String("visibility.visible") != "true" || p.String("visibility.show") != "[name sports verified]" {
			t.Errorf("profile: got %s", p.Body)
		}
		want := map[string]any{
			"coach_id": coach.ID, "name": "Meera Nair", "sports": []any{"hockey", "football"}, "verified": false,
			"bio": nil, "profile_picture": nil, "experience_years": nil, "certifications": nil,
		}
		if got := s.Call(t, "GET", at, "", nil).Want(t, 200); !reflect.DeepEqual(got.JSON, want) {
			t.Errorf("shown coach: got %s", got.Body)
		}
		for query, found := range map[string]bool{
			"": true, "?sport=HOCKEY": true, "?sport=hock": false, "?q=mee": true, "?q=nair+foot": true, "?q=child": false, "?q=every": false,
			"?sport=football&q=meera": true, "?sport=chess": false, "?q=%E2%9A%BD": false,
		} {
			if got := search(t, s, query); (len(got) == 1) != found {
				t.Errorf("search %s: got %v", query, got)
			}
		}
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "bio")).Want(t, 200)
		if search(t, s, "?q=child")[0] != coach.ID || len(search(t, s, "?q=meera")) > 0 {
			t.Error("search must match every shown field")
		}

		// Missing conditions hide the coach at once and keep the choice. A hidden
		// coach looks like an unknown one.
		coach.Call(t, "PATCH", "/api/coach/profile", `{"bio":null}`).Want(t, 200)
		lost := coach.Call(t, "GET", "/api/coach/visibility", nil).Want(t, 200)
		if lost.String("visible") != "true" || lost.String("listed") != "false" || lost.String("blocked_by") != "profile_incomplete" || lost.String("missing") != "[bio]" {
			t.Errorf("conditions missing: got %s", lost.Body)
		}
		for _, body := range []map[string]any{visibilityBody(true, "name"), visibilityBody(true, "shoe size"), {"visible": true}} {
			coach.Call(t, "PUT", "/api/coach/visibility", body).Want(t, 403, "profile_incomplete")
		}
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(false, "shoe size")).Want(t, 422, "validation_failed")
		trace := regexp.MustCompile(`"trace_id":"[0-9a-f]+"`)
		hidden := s.Call(t, "GET", at, "", nil).Want(t, 404)
		none := s.Call(t, "GET", "/api/coaches/019aa5c4-1111-7222-8333-444455556666", "", nil).Want(t, 404)
		if trace.ReplaceAllString(string(hidden.Body), "") != trace.ReplaceAllString(string(none.Body), "") ||
			!slices.Equal(slices.Sorted(keys(hidden.Header)), slices.Sorted(keys(none.Header))) {
			t.Errorf("hidden coach: got %v %s\nunknown coach: got %v %s", hidden.Header, hidden.Body, none.Header, none.Body)
		}
		if len(search(t, s, "")) > 0 {
			t.Error("a coach with an incomplete profile is listed")
		}
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "bio")).Want(t, 403, "profile_incomplete")
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(false, "bio", "name")).Want(t, 200)
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true)).Want(t, 403, "profile_incomplete")
		coach.Call(t, "PATCH", "/api/coach/profile", `{"bio":"Back."}`).Want(t, 200)
		if len(search(t, s, "")) > 0 {
			t.Error("a coach who chose to be hidden is listed")
		}
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "name")).Want(t, 200)
		coach.Call(t, "PATCH", "/api/coach/profile", `{"sports":null}`).Want(t, 200)
		coach.Call(t, "PATCH", "/api/coach/profile", `{"sports":["Chess"]}`).Want(t, 200)
		if got := search(t, s, ""); len(got) != 1 {
			t.Errorf("the choice is lost: got %v", got)
		}
		guardian := touchlinetest.Minor(guardianNumber, "")
		coach.AddPlayer(t, guardian)
		party := s.SignIn(t, "guardian", guardianNumber)
		party.Call(t, "GET", "/api/coach/visibility", nil).Want(t, 403, "role_not_allowed")
		party.Call(t, "GET", at, nil).Want(t, 200)
	})
}

func keys(h map[string][]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range h {
			if !yield(name) {
				return
			}
		}
	}
}

// TestVisibilityInput: every invalid field of a visibility request is reported.
func TestVisibilityInput(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		for body, at := range map[string][]string{
			`{}`:                                     {"/show", "/visible"},
			`{"visible":"yes","show":"name"}`:        {"/show", "/visible"},
			`{"visible":true,"show":["name","x",1]}`: {"/show/1", "/show/2"},
			`{"visible":false,"show":["bio","name","bio"],"more":1}`:                            {"/more", "/show/2"},
			`{"visible":null,"show":null}`:                                                      {"/show", "/visible"},
			`{"visible":true,"show":["name","name","name","name","name","name","name","name"]}`: {"/show"},
		} {
			if got := faultPointers(coach.Call(t, "PUT", "/api/coach/visibility", body).Want(t, 422, "validation_failed")); !slices.Equal(got, at) {
				t.Errorf("%s: got faults at %v, want %v", body, got, at)
			}
		}
		coach.Call(t, "PUT", "/api/coach/visibility", `[`).Want(t, 400)
		s.Call(t, "PUT", "/api/coach/visibility", "", visibilityBody(true)).Want(t, 401)
	})
}

// TestDirectoryCaching: responses have a strong ETag and may be cached, problems
// may not.
func TestDirectoryCaching(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "name")).Want(t, 200)
		for _, path := range []string{"/api/coaches", "/api/coaches/" + coach.ID, "/api/coaches?sport=hockey&q=m&limit=1"} {
			first := s.Call(t, "GET", path, "", nil).Want(t, 200)
			etag := first.Header.Get("ETag")
			if !regexp.MustCompile(`^"[\w-]+"$`).MatchString(etag) {
				t.Errorf("%s: got ETag %s", path, etag)
			}
			for _, header := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
				again := s.Call(t, "GET", path, "", nil, "If-None-Match: "+header).Want(t, 304)
				if len(again.Body) > 0 || again.Header.Get("ETag") != etag {
					t.Errorf("%s: got 304 with %v %s", path, again.Header, again.Body)
				}
			}
			s.Call(t, "GET", path, "", nil, "If-None-Match: \"x\"").Want(t, 200)
			head := s.Call(t, "HEAD", path, "", nil).Want(t, 200)
			if len(head.Body) > 0 || head.Header.Get("ETag") != etag || head.Header.Get("Content-Length") != fmt.Sprint(len(first.Body)) {
				t.Errorf("HEAD %s: got %v", path, head.Header)
			}
			// A session, valid or not, changes nothing.
			if other := s.Call(t, "GET", path, "no-token", nil).Want(t, 200); other.Header.Get("ETag") != etag {
				t.Errorf("%s differs with a session", path)
			}
		}
		before := s.Call(t, "GET", "/api/coaches/"+coach.ID, "", nil).Header.Get("ETag")
		coach.Call(t, "PATCH", "/api/coach/profile", `{"bio":"Something new.","experience_years":9}`).Want(t, 200)
		if s.Call(t, "GET", "/api/coaches/"+coach.ID, "", nil).Header.Get("ETag") != before {
			t.Error("the ETag depends on hidden fields")
		}
		coach.Call(t, "PATCH", "/api/coach/profile", `{"name":"Meera Menon"}`).Want(t, 200)
		s.Call(t, "GET", "/api/coaches/"+coach.ID, "", nil, "If-None-Match: "+before).Want(t, 200)
		s.Call(t, "GET", "/api/coaches/x", "", nil).Want(t, 404)
		s.Call(t, "GET", "/api/coaches?limit=0", "", nil).Want(t, 422)
		s.Call(t, "POST", "/api/coaches", "", nil).Want(t, 405)
		s.Call(t, "GET", "/api/coaches", "", nil, "Accept: text/html").Want(t, 406)
	})
}

// TestDirectoryPages: pages are newest first and list each coach once, even when
// coaches register between two pages.
func TestDirectoryPages(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		var want []string
		for i := range 5 {
			coach := s.Coach(t, fmt.Sprintf("+9198765000%02d", i))
			coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(i != 2, "name", "sports")).Want(t, 200)
			if i != 2 {
				want = append([]string{coach.ID}, want...)
			}
		}
		for _, query := range []string{"", "&sport=football", "&q=mee", "&q=nair+mee&sport=hockey"} {
			var got []string
			next := ""
			for range 4 {
				page := s.Call(t, "GET", "/api/coaches?limit=2"+query+next, "", nil).Want(t, 200)
				for _, item := range page.Items() {
					got = append(got, item["coach_id"].(string))
				}
				if page.JSON["next_cursor"] == nil {
					break
				}
				next = "&cursor=" + page.String("next_cursor")
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q: got %v, want %v", query, got, want)
			}
		}
		s.Call(t, "GET", "/api/coaches?cursor=x", "", nil).Want(t, 422)
		s.Call(t, "GET", "/api/coaches?cursor=", "", nil).Want(t, 200)
	})
}

// TestHostileSearch: no search term causes a server error.
func TestHostileSearch(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "name", "bio", "sports")).Want(t, 200)
		wide := strings.Repeat("\ufdfa", 50)
		coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{
			"sports": []string{wide, "⚽", "हॉकी"}, "bio": strings.Repeat("\ufdfa\U0001d7d8", 1000),
		}).Want(t, 200)
		for _, sport := range []string{wide, "⚽", "हॉकी"} {
			if got := search(t, s, "?sport="+url.QueryEscape(sport)); len(got) != 1 {
				t.Errorf("sport %.10s: got %v", sport, got)
			}
		}
		for raw, status := range map[string]int{
			"%":                     422, // it cannot be decoded
			"%00":                   422,
			"%ff%fe":                422,
			"%ed%a0%80":             422,
			"":                      422,
			"+++":                   422,
			"%25":                   200,
			"_":                     200,
			"%27%20OR%201%3D1%20--": 200,
			url.QueryEscape("<script>alert(1)</script>"): 200,
			url.QueryEscape("\u202emeera\u202c"):         200,
			url.QueryEscape("\u200b"):                    422,
			url.QueryEscape("🏑🏑"):                        200,
			url.QueryEscape("हॉकी"):                      200,
			url.QueryEscape("w:meera s:hockey"):          200,
			"a+b+c+d+e":                                  200,
			"a+b+c+d+e+f":                                422,
			strings.Repeat("a", 100):                     200,
			strings.Repeat("a", 101):                     422,
			strings.Repeat("a", 10<<10):                  422,
			strings.Repeat("%EF%B7%BA", 100):             200, // case folding makes it 18 times longer
		} {
			a := s.Call(t, "GET", "/api/coaches?q="+raw, "", nil)
			if a.Status != status {
				t.Errorf("q=%.60s: got %d %s", raw, a.Status, a.Body)
			}
			if sport := s.Call(t, "GET", "/api/coaches?sport="+raw, "", nil); sport.Status != 200 && sport.Status != 422 {
				t.Errorf("sport=%.60s: got %d %s", raw, sport.Status, sport.Body)
			}
		}
		if got := search(t, s, "?q="+url.QueryEscape("\u202emee\u202c")); len(got) != 1 {
			t.Error("invisible characters are searched for")
		}
		for _, query := range []string{"?q=%25", "?q=_", "?sport=%25", "?sport=h_ckey"} {
			if got := search(t, s, query); len(got) > 0 {
				t.Errorf("%s: got %v", query, got)
			}
		}
	})
}

// TestDirectoryRequiresVerification: a tier can require KYC for the directory.
func TestDirectoryRequiresVerification(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		refused := coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "name")).Want(t, 403, "kyc_required")
		if refused.String("kyc_state") != "not_started" {
			t.Errorf("unverified: got %s", refused.Body)
		}
		if v := coach.Call(t, "GET", "/api/coach/visibility", nil).Want(t, 200); v.String("blocked_by") != "kyc_required" || v.String("visible") != "false" {
			t.Errorf("visibility: got %s", v.Body)
		}
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(false, "name")).Want(t, 200)

		id := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		coach.Call(t, "POST", "/api/coach/kyc", object{"legal_name": "Meera Nair", "document_ids": []string{id}}).Want(t, 201)
		if refused := coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "name")).Want(t, 403, "kyc_required"); refused.String("kyc_state") != "submitted" {
			t.Errorf("unverified: got %s", refused.Body)
		}
		decideKYC(t, s, approve)
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "verified")).Want(t, 200)
		if got := s.Call(t, "GET", "/api/coaches/"+coach.ID, "", nil).Want(t, 200); got.JSON["verified"] != true {
			t.Errorf("verified: got %s", got.Body)
		}
	}, enableKYC)
}
