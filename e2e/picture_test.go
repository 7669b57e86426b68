package e2e_test

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"testing"

	"github.com/touchline/touchline/internal/platform/picture/picturetest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// pictureSizes returns the sizes of the profile picture by name.
func pictureSizes(a *touchlinetest.Response) map[string]string {
	picture, _ := a.JSON["profile_picture"].(map[string]any)
	list, _ := picture["sizes"].([]any)
	sizes := map[string]string{}
	for _, size := range list {
		m, _ := size.(map[string]any)
		sizes[fmt.Sprint(m["name"])] = fmt.Sprint(m["width"], "x", m["height"], " ", m["url"])
	}
	return sizes
}

// TestPictures: a rotated photo with a GPS position is stored upright, in three
// sizes and without the position.
func TestPictures(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		photo := largePhoto()
		if !bytes.Contains(photo, []byte("GPS 12.9716")) {
			t.Fatal("the photo has no GPS position")
		}
		d := c.Upload(t, "profile_picture", "me.jpeg", photo, "title", "Me")
		for tries := 1; d.Status == 503 && tries < 10; tries++ { // a busy machine has no time for a large photo
			d = c.Upload(t, "profile_picture", "me.jpeg", photo, "title", "Me")
		}
		d.Want(t, 201)
		if d.String("width") != "683" || d.String("height") != "1024" || d.String("media_type") != "image/jpeg" || d.String("file_name") != "me.jpeg" {
			t.Errorf("upload: got %s", d.Body)
		}
		profile := c.Call(t, "GET", "/api/coach/profile", nil).Want(t, 200)
		sizes := pictureSizes(profile)
		if profile.String("profile_picture.document_id") != d.String("document_id") || len(sizes) != 3 {
			t.Errorf("profile: got %s", profile.Body)
		}
		seen := map[string]bool{}
		for name := range sizes {
			a := c.Call(t, "GET", d.String("content_url")+"?size="+name, nil).Want(t, 200)
			if seen[a.Header.Get("ETag")] || a.Header.Get("Content-Disposition") != `inline; filename="me.jpeg"` {
				t.Errorf("%s: got headers %v", name, a.Header)
			}
			seen[a.Header.Get("ETag")] = true
			if bytes.Contains(a.Body, []byte("GPS")) || bytes.Contains(a.Body, []byte("Exif")) {
				t.Errorf("%s still has the GPS position", name)
			}
			m, err := jpeg.Decode(bytes.NewReader(a.Body))
			if err != nil {
				t.Fatal(err)
			}
			b := m.Bounds()
			if want := fmt.Sprint(b.Dx(), "x", b.Dy(), " ", d.String("content_url"), "?size=", name); sizes[name] != want {
				t.Errorf("%s: profile says %s, file has %s", name, sizes[name], want)
			}
			// After a quarter turn to the right, the blue corner is at the top
			// left.
			if red, _, blue, _ := m.At(2, 2).RGBA(); b.Dy() <= b.Dx() || blue < 0xc000 || red > 0x4000 {
				t.Errorf("%s is not upright: got %v at the top left", name, m.At(2, 2))
			}
		}
		c.Call(t, "GET", d.String("content_url")+"?size=huge", nil).Want(t, 422)
		c.Call(t, "GET", d.String("content_url")+"?size=", nil).Want(t, 422)

		next := c.Upload(t, "profile_picture", "new.png", picturetest.PNG(picturetest.FourCorners(10, 10))).Want(t, 201)
		if got := c.Call(t, "GET", "/api/coach/profile", nil).String("profile_picture.document_id"); got != next.String("document_id") {
			t.Errorf("got picture %s, want the new one", got)
		}
		if old := c.Call(t, "GET", d.Header.Get("Location"), nil).Want(t, 200); old.String("in_profile") != "false" {
			t.Errorf("replaced picture: got %s", old.Body)
		}
		patch := func(v any) *touchlinetest.Response {
			return c.Call(t, "PATCH", "/api/coach/profile", map[string]any{"profile_picture": v})
		}
		if got := patch(d.String("document_id")).Want(t, 200).String("profile_picture.document_id"); got != d.String("document_id") {
			t.Errorf("chosen picture: got %s", got)
		}
		certificate := c.Upload(t, "certification", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 201)
		for pointer, body := range map[string]map[string]any{
			"/profile_picture":  {"profile_picture": certificate.String("document_id")},
			"/certifications/0": {"certifications": []string{d.String("document_id")}},
			"/certifications/1": {"certifications": []string{certificate.String("document_id"), c.ID}},
		} {
			a := c.Call(t, "PATCH", "/api/coach/profile", body).Want(t, 422, "validation_failed")
			if got := validationFaults(a); len(got) != 1 || got[0] != pointer+" unknown_document" {
				t.Errorf("%s: got %v", pointer, got)
			}
		}
		if a := patch(nil).Want(t, 200); a.JSON["profile_picture"] != nil {
			t.Errorf("cleared: got %s", a.Body)
		}
		patch(d.String("document_id")).Want(t, 200)
		c.Call(t, "DELETE", d.Header.Get("Location"), nil).Want(t, 200)
		if a := c.Call(t, "GET", "/api/coach/profile", nil).Want(t, 200); a.JSON["profile_picture"] != nil {
			t.Errorf("deleted: got %s", a.Body)
		}
	})
}
