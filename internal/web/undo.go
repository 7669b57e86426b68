package web

import (
	"net/url"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
)

// undoOffered is how old a removal may be when its page still offers to undo it: the browser loads
// the page after a redirect. The script of the page ends the offer after 10 s.
const undoOffered = time.Minute

// Removal is what one button of a list removes. With JavaScript the button removes it at once, and the
// list offers to undo it. Without JavaScript a page asks first.
type Removal struct {
	// List is the page with the button.
	List string
	// ID is what is removed.
	ID string
	// Typed are the stored fields of the form of the list: see KeepTyped.
	Typed url.Values
}

// Remove serves the POST of the button, and of the page that asks.
func (p *Pages) Remove(r *Request, x Removal, remove func() error) (Response, error) {
	if r.Value("at_once") == "" {
		return p.KeepTyped(r, Redirect(r.URL.Path), x.List, x.Typed), nil
	}
	// The same form sent twice finds nothing the second time, and succeeds.
	if err := remove(); err != nil && !fault.IsMissing(err) {
		return Response{}, err
	}
	query := url.Values{"done": {"removed"}, "undo": {x.ID}, "at": {strconv.FormatInt(p.Now().Unix(), 10)}}
	return p.KeepTyped(r, Redirect(x.List+"?"+query.Encode()), x.List, x.Typed), nil
}

// Undo serves the POST that undoes a removal. exists reports whether it was undone before.
func (p *Pages) Undo(x Removal, restore func() error, exists func() bool) (Response, error) {
	err := restore()
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Conflict, fault.Invalid, fault.Forbidden:
		if err != nil && !exists() {
			return Redirect(x.List + "?done=not_undone"), nil
		}
		err = nil
	}
	return Redirect(x.List + "?done=undone"), err
}

// RemovalCheck is the page that asks before a removal.
func (p *Pages) RemovalCheck(r *Request, by actor.Actor, section, question, what string, x Removal) (Response, error) {
	v := p.CoachView(r, section, question, by)
	v.Path = r.URL.Path
	v.Data = map[string]any{"Question": v.MustT(question), "What": what, "Action": r.URL.Path, "Back": x.List}
	return Page("removal_check", v), nil
}

// UndoPath returns where the list undoes the removal that was just made, or "". suffix follows the id.
func (p *Pages) UndoPath(r *Request, before, suffix string) string {
	id := r.URL.Query().Get("undo")
	at, err := strconv.ParseInt(r.URL.Query().Get("at"), 10, 64)
	if age := p.Now().Sub(time.Unix(at, 0)); err != nil || !endpoint.IsID(id) || age < 0 || age > undoOffered {
		return ""
	}
	return before + id + suffix
}
