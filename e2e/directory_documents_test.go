package e2e_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

func photo(t *testing.T) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 640, 480))
	for i := range 640 {
		m.Set(i, i%480, color.RGBA{byte(i), 100, 200, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDirectoryShowsDocuments: the directory shows titles of valid certificates
// and the picture, but only while the coach shows them.
func TestDirectoryShowsDocuments(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		at := "/api/coaches/" + coach.ID
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "certifications", "profile_picture")).Want(t, 200)
		titles := func() string { return s.Call(t, "GET", at, "", nil).Want(t, 200).String("certifications") }
		if titles() != "[]" {
			t.Errorf("before any upload: got %s", titles())
		}
		coach.Upload(t, "certification", "Level 1.pdf", touchlinetest.PDF(100, 1), "expires_on", "2020-01-31").Want(t, 201)
		level2 := coach.Upload(t, "qualification", "Level 2.pdf", touchlinetest.PDF(100, 2), "expires_on", "2199-12-31", "issuer", "Sports Authority").Want(t, 201)
		coach.Upload(t, "identity", "Passport.pdf", touchlinetest.PDF(100, 3)).Want(t, 201)
		if titles() != "[map[title:Level 2]]" {
			t.Errorf("after the uploads: got %s", titles())
		}
		coach.Call(t, "PATCH", "/api/coach/documents/"+level2.String("document_id"), `{"title":"Level two"}`).Want(t, 200)
		if titles() != "[map[title:Level two]]" {
			t.Errorf("after the rename: got %s", titles())
		}
		coach.Call(t, "DELETE", "/api/coach/documents/"+level2.String("document_id"), nil).Want(t, 200)
		if titles() != "[]" {
			t.Errorf("after the deletion: got %s", titles())
		}

		picture := coach.Upload(t, "profile_picture", "me.png", photo(t)).Want(t, 201)
		shown := s.Call(t, "GET", at, "", nil).Want(t, 200)
		own := coach.Call(t, "GET", "/api/coach/profile", nil).Want(t, 200).JSON["profile_picture"].(map[string]any)
		delete(own, "document_id")
		if !reflect.DeepEqual(shown.JSON["profile_picture"], any(own)) || !strings.Contains(shown.String("profile_picture.url"), picture.String("document_id")) {
			t.Errorf("directory picture: got %s, want %v", shown.Body, own)
		}
		address := shown.String("profile_picture.url")
		content := s.Call(t, "GET", address+"?size=small", "", nil).Want(t, 200)
		if content.Header.Get("Cache-Control") != "public, max-age=60" || len(content.Body) == 0 {
			t.Errorf("picture content: got headers %v", content.Header)
		}
		for header, status := range map[string]int{`If-Match: "another"`: 412, "Range: bytes=99999999-": 416} {
			if a := s.Call(t, "GET", address, "", nil, header).Want(t, status); a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("status %d: got headers %v, want no-store", status, a.Header)
			}
		}
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "certifications")).Want(t, 200)
		s.Call(t, "GET", address, "", nil).Want(t, 401)
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(false, "profile_picture")).Want(t, 200)
		s.Call(t, "GET", address, "", nil).Want(t, 401)
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "profile_picture")).Want(t, 200)
		s.Call(t, "GET", address, "", nil).Want(t, 200)
		coach.Call(t, "PATCH", "/api/coach/profile", `{"profile_picture":null}`).Want(t, 200)
		if now := s.Call(t, "GET", at, "", nil).Want(t, 200); now.JSON["profile_picture"] != nil {
			t.Errorf("after removal from the profile: got %s", now.Body)
		}
		s.Call(t, "GET", address, "", nil).Want(t, 401)
	})
}

// TestDirectoryFollowsTier: a downgrade hides fields at once, in searches too.
// The coach's choice is kept.
func TestDirectoryFollowsTier(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		refused := coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "name", "bio", "sports")).Want(t, 403, "tier_limit")
		if refused.String("limit") != "shows" || refused.String("tier") != "small" || refused.JSON["needed_tier"] != nil || refused.String("fields") != "[bio sports]" {
			t.Errorf("got %s", refused.Body)
		}
		if refused := coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "name", "bio")).Want(t, 403, "tier_limit"); refused.String("needed_tier") != "large" {
			t.Errorf("got %s", refused.Body)
		}
		coach.Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": "large"}).Want(t, 200)
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "name", "bio")).Want(t, 200)
		if len(search(t, s, "?q=child")) != 1 {
			t.Error("search does not find the bio")
		}
		coach.Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": "small"}).Want(t, 200)
		if v := coach.Call(t, "GET", "/api/coach/visibility", nil).Want(t, 200); v.String("show") != "[name bio]" || v.String("allowed") != "[name]" || v.String("listed") != "true" {
			t.Errorf("after the downgrade: got %s", v.Body)
		}
		if got := s.Call(t, "GET", "/api/coaches/"+coach.ID, "", nil).Want(t, 200); got.JSON["bio"] != nil || got.String("name") != "Meera Nair" {
			t.Errorf("shown coach: got %s", got.Body)
		}
		if len(search(t, s, "?q=child")) != 0 || len(search(t, s, "?q=meera")) != 1 {
			t.Error("search must match shown fields only")
		}
		// An operator-only tier without the directory.
		execSQL(t, openTables(t, s), `UPDATE coaches SET tier = 'staff' WHERE id = $1`, coach.ID)
		coach.Call(t, "PATCH", "/api/coach/profile", `{"bio":"New."}`).Want(t, 200) // updates the listing
		if v := coach.Call(t, "GET", "/api/coach/visibility", nil).Want(t, 200); v.String("blocked_by") != "tier_limit" || v.String("listed") != "false" {
			t.Errorf("tier without the directory: got %s", v.Body)
		}
		s.Call(t, "GET", "/api/coaches/"+coach.ID, "", nil).Want(t, 404)
	}, withTiers(t, smallTiers))
}
