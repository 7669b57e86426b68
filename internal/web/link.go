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

// Links finds what a link asks; package store provides it. It answers not_found
// for a link that never was, has ended, or whose request is no longer open.
type Links interface {
	Link(ctx context.Context, tokenHash []byte, now time.Time) (approval.LinkPreview, error)
}

// maxToken is longer than any token that leaves the service, in bytes.
const maxToken = 128

// linkPage is what the page says. The names are as messages show them: without
// what a stranger could have hidden in them.
type linkPage struct {
	Coach    string
	Student  string
	Guardian bool // the guardian is asked; otherwise the student
}

// link serves GET /a/{token}: who asks, what it means, how to answer. It
// decides nothing, so that a phone may fetch it before its owner does.
func (p *Pages) link(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	if !plausible(token) {
		p.render(w, http.StatusNotFound, "dead.html", nil)
		return
	}
	asking, err := p.links.Link(r.Context(), auth.HashLink(token), p.now())
	switch {
	case err == nil:
		p.render(w, http.StatusOK, "link.html", linkPage{
			Coach:    notify.Name(asking.CoachName, ""),
			Student:  notify.Name(asking.StudentName, ""),
			Guardian: asking.Party == actor.Guardian,
		})
	case fault.KindOf(err) == fault.NotFound:
		p.render(w, http.StatusNotFound, "dead.html", nil)
	default:
		p.failed(w, r, err)
	}
}

// failed answers what is nobody's fault here, and logs it without the address.
func (p *Pages) failed(w http.ResponseWriter, r *http.Request, err error) {
	status, wait := http.StatusInternalServerError, time.Duration(0)
	if fault.KindOf(err) == fault.Unavailable {
		status, wait = http.StatusServiceUnavailable, 2*time.Second
	}
	p.log.ErrorContext(r.Context(), "page of a link", "status", status, "error", err)
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
	}
	p.render(w, status, "failed.html", nil)
}

// plausible says whether s can be a token: the alphabet of base64url, not too long.
func plausible(s string) bool {
	return s != "" && len(s) <= maxToken && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
