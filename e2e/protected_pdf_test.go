package e2e_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestProtectedIdentityDocument: an operator cannot check an identity document that needs a password, so the coach learns at once how to
// send another one. Other documents may have one.
func TestProtectedIdentityDocument(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		protected := bytes.Replace(touchlinetest.PDF(3000, 1), []byte("%%EOF"), []byte("trailer<</Root 1 0 R/Encrypt 5 0 R>>\n%%EOF"), 1)
		got := coach.Upload(t, "identity", "aadhaar.pdf", protected).Want(t, 422, "validation_failed")
		if body := string(got.Body); !strings.Contains(body, "password_protected") || !strings.Contains(body, "print it to a new PDF") {
			t.Errorf("got %s", body)
		}
		coach.Upload(t, "certification", "course.pdf", protected, "title", "Level 1").Want(t, 201)
		coach.Upload(t, "identity", "aadhaar.pdf", touchlinetest.PDF(3000, 1)).Want(t, 201)
	})
}
