package coaching

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/wire"
)

// listCoaches serves GET /api/coaches to anyone.
func (h handlers) listCoaches(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	query := r.Query
	wanted := coachQuery(query, &f)
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	coaches, next, err := h.Directory.List(ctx, wanted, page.After.ID, page.Limit())
	if err != nil {
		return api.Response{}, err
	}
	out := wire.List[publicCoach]{Items: []publicCoach{}}
	if next != "" {
		cursor := page.Cursor(api.Keyset{ID: next})
		out.NextCursor = &cursor
	}
	for _, l := range coaches {
		out.Items = append(out.Items, h.publicCoach(l))
	}
	return publicResponse(r.Meta, out)
}

// coachQuery reads the search of the directory.
func coachQuery(query url.Values, f *wire.Faults) coach.Query {
	sport := api.QueryText(query, "sport", f, wire.ParseRules("min=1,max="+strconv.Itoa(coach.MaxSport)))
	text := api.QueryText(query, "q", f, wire.ParseRules("min=1,max=100"))
	if len(*f) > 0 {
		return coach.Query{}
	}
	wanted, ok := coach.NewQuery(sport, text)
	if !ok {
		f.Add("/q", "too_many", "There may be at most "+strconv.Itoa(coach.MaxWords)+" words.")
	}
	return wanted
}

// getCoach serves GET /api/coaches/{coach_id} to anyone.
func (h handlers) getCoach(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	l, err := h.Directory.Coach(ctx, id)
	if err != nil {
		return api.Response{}, err
	}
	return publicResponse(r.Meta, h.publicCoach(l))
}

// publicCoach is a coach in the directory. A field that the coach hides or has not filled
// in is null.
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
	URL    string                    `json:"url"`
	Width  int                       `json:"width"`
	Height int                       `json:"height"`
	Sizes  []api.PictureSizeResponse `json:"sizes"`
}

func (h handlers) publicCoach(l coach.Listing) publicCoach {
	out := publicCoach{CoachID: l.CoachID, Name: wire.OrNull(l.Name), Bio: wire.OrNull(l.Bio), ExperienceYears: l.Experience}
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
		verified := h.Directory.Verified(l)
		out.Verified = &verified
	}
	if p := l.Picture; p != nil {
		out.ProfilePicture = &publicPicture{URL: api.ContentURL(p.DocumentID, ""), Width: p.Width, Height: p.Height, Sizes: []api.PictureSizeResponse{}}
		for _, size := range p.Sizes {
			out.ProfilePicture.Sizes = append(out.ProfilePicture.Sizes,
				api.PictureSizeResponse{Name: size.Name, Width: size.Width, Height: size.Height, URL: api.ContentURL(p.DocumentID, size.Name)})
		}
	}
	return out
}

// publicMaxAge is how long caches may keep a directory response, in seconds. A coach who
// hides may be seen this much longer.
const publicMaxAge = 60

// publicResponse returns body as JSON that any cache may keep, or 304 to a client that
// has it. It does not depend on the caller.
func publicResponse(m api.Meta, body any) (api.Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return api.Response{}, fmt.Errorf("encode the response: %w", err)
	}
	hash := sha256.Sum256(raw)
	etag := `"` + base64.RawURLEncoding.EncodeToString(hash[:16]) + `"`
	h := http.Header{}
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(publicMaxAge))
	h.Set("ETag", etag)
	if wire.ETagMatches(strings.Join(m.Header.Values("If-None-Match"), ","), etag) {
		return api.Response{Status: http.StatusNotModified, Header: h}, nil
	}
	h.Set("Content-Type", "application/json")
	return api.Response{Header: h, Raw: raw}, nil
}
