package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/notify"
)

// Links looks up links; package store implements it. It returns not_found for a link that
// does not exist or has expired, or whose request is not open.
type Links interface {
	Link(ctx context.Context, tokenHash []byte, now time.Time) (approval.LinkPreview, error)
}

// maxToken is longer than every token of the service, in bytes.
const maxToken = 128

// linkPage is the data of the page. Names are sanitised as in messages.
type linkPage struct {
	Coach    string
	Student  string
	Guardian bool // the request is to the guardian; otherwise to the student
}

// link serves GET /a/{token}: who asks, what a decision means, how to decide. It changes
// nothing, because phones fetch links for previews.
func (p *Pages) link(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	if !plausible(token) {
		p.render(w, http.StatusNotFound, "not_found.html", nil)
		return
	}
	preview, err := p.links.Link(r.Context(), auth.HashLink(token), p.now())
	switch {
	case err == nil:
		p.render(w, http.StatusOK, "link.html", linkPage{
			Coach:    notify.Name(preview.CoachName, ""),
			Student:  notify.Name(preview.StudentName, ""),
			Guardian: preview.Party == actor.Guardian,
		})
	case fault.KindOf(err) == fault.NotFound:
		p.render(w, http.StatusNotFound, "not_found.html", nil)
	default:
		p.failed(w, r, err)
	}
}

// failed writes the page for a failed lookup and logs the error without the path, which
// contains the token.
func (p *Pages) failed(w http.ResponseWriter, r *http.Request, err error) {
	status, wait := http.StatusInternalServerError, time.Duration(0)
	if fault.KindOf(err) == fault.Unavailable {
		status, wait = http.StatusServiceUnavailable, 2*time.Second
	}
	p.log.ErrorContext(r.Context(), "serve the page of a link", "status", status, "error", err)
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
	}
	p.render(w, status, "failed.html", nil)
}

// plausible reports whether s can be a token: base64url and at most maxToken long.
func plausible(s string) bool {
	return s != "" && len(s) <= maxToken && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
