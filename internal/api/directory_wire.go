package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/coach"
)

// publicCoach is a coach as the directory answers it. Every member is always
// there; what the coach does not show, or has not given, is null.
type publicCoach struct {
	CoachID         string              `json:"coach_id"`
	Name            *string             `json:"name"`
	ProfilePicture  *publicPicture      `json:"profile_picture"`
	Bio             *string             `json:"bio"`
	Sports          []string            `json:"sports"`
	ExperienceYears *int                `json:"experience_years"`
	Certifications  []publicCertificate `json:"certifications"`
	Verified        *bool               `json:"verified"`
}

type publicCertificate struct {
	Title string `json:"title"`
}

type publicPicture struct {
	URL    string                `json:"url"`
	Width  int                   `json:"width"`
	Height int                   `json:"height"`
	Sizes  []pictureSizeResponse `json:"sizes"`
}

// publicCoach answers a listing.
func (s *Server) publicCoach(l coach.Listing) publicCoach {
	out := publicCoach{CoachID: l.CoachID, Name: orNull(l.Name), Bio: orNull(l.Bio), ExperienceYears: l.Experience}
	if l.Shows("sports") {
		out.Sports = orEmpty(l.Sports)
	}
	if l.Shows("certifications") {
		out.Certifications = []publicCertificate{}
		for _, c := range l.Certificates {
			out.Certifications = append(out.Certifications, publicCertificate{c.Title})
		}
	}
	if l.Shows("verified") {
		verified := s.directory.Verified(l)
		out.Verified = &verified
	}
	if p := l.Picture; p != nil {
		out.ProfilePicture = &publicPicture{URL: contentURL(p.DocumentID, ""), Width: p.Width, Height: p.Height, Sizes: []pictureSizeResponse{}}
		for _, size := range p.Sizes {
			out.ProfilePicture.Sizes = append(out.ProfilePicture.Sizes,
				pictureSizeResponse{size.Name, size.Width, size.Height, contentURL(p.DocumentID, size.Name)})
		}
	}
	return out
}

// publicAge is for how long anybody may keep an answer of the directory, in
// seconds: so long may a coach be seen after having become hidden.
const publicAge = 60

// encodePublic answers v as JSON that anybody may keep for a while, or 304 to
// whoever has it already. It is the same for all who ask, so nothing varies it.
func encodePublic(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	hash := sha256.Sum256(body)
	etag := `"` + base64.RawURLEncoding.EncodeToString(hash[:16]) + `"`
	h := w.Header()
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(publicAge))
	h.Set("ETag", etag)
	if etagMatches(strings.Join(r.Header.Values("If-None-Match"), ","), etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // a caller who is gone needs no answer
	return nil
}
