package web

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// draftCookie keeps what a person wrote while the browser signs in again, and the reason of
// an answer for its check page. It is encrypted.
const (
	draftCookie   = "touchline-draft"
	draftLifetime = 30 * time.Minute
	// maxDraft is the length of a draft before it is encrypted, in bytes: browsers refuse
	// cookies above 4096 bytes. The longest fields are left out of a longer one; a sheet or a
	// schedule is kept whole or not at all. Every reason within the limit of 500 characters
	// fits, and 4,000 characters of most texts.
	maxDraft = 2800
	// maxDraftText limits what a draft may unfold to.
	maxDraftText = 256 << 10
)

// draftFields are the fields that people fill in. Codes and hidden fields are not kept.
var draftFields = []string{
	"reason", "name", "bio", "experience_years", "sports", "email", "student_name", "date_of_birth", "student_number", "medical", "student_language",
	"guardian_name", "relationship", "guardian_number", "guardian_email", "guardian_language", "basis", "basis_note", "number", "note", "language", "time_zone",
	"visible", "show", "sport", "venue", "batch", "legal_name", "document", "title", "issuer", "issued_on", "expires_on", "text",
	"quiet_start", "quiet_end",
	"amount", "due_on", "until", "paid_on", "upi_id", "reverse_reason", "waive_reason", "void_reason",
	"metric", "value", "unit", "on", "from", "to",
}

// draftContext are hidden fields that say what the others are about.
var draftContext = []string{"party", "kind", "for", "method", "repeat", "payment", "version", "request", "audience", "channels"}

// draftPrefixes begin the names of the fields of attendance and of a schedule.
var draftPrefixes = []string{"m-", "n-", "t-", "days", "start", "end"}

// draft is a form that was not saved yet.
type draft struct {
	Account string
	// Page is the page that shows the form again.
	Page   string
	Values url.Values
	Ends   int64 // Unix seconds
}

// ofQuestion reports whether a page belongs to the question about a player. These pages share
// one draft, and read it themselves.
func ofQuestion(r *Request) bool {
	return strings.HasPrefix(r.URL.Path, "/me/") && r.PathValue("player_id") != "" && !strings.HasSuffix(r.URL.Path, "/messages")
}

// draftPage returns the page that shows the form of a request again.
func draftPage(r *Request) string {
	if rest, ok := strings.CutPrefix(r.URL.Path, "/me/"); ok && ofQuestion(r) {
		role, _, _ := strings.Cut(rest, "/")
		return PlayerPath(actor.Role(role), r.PathValue("player_id"))
	}
	return formPage(r)
}

// KeepDraft returns the cookie with what the person filled in. An empty reason removes an
// earlier one.
func (p *Pages) KeepDraft(r *Request) []*http.Cookie {
	if r.isMultipart() && 0 < r.ContentLength {
		body, err := p.Bodies.Read(r.holder(), r.Body, r.ContentLength, maxForm)
		defer body.Release()
		if err == nil {
			r.Body = io.NopCloser(bytes.NewReader(body.Bytes))
			err = r.ParseMultipartForm(maxForm)
		}
		if err == nil {
			r.Form = r.MultipartForm.Value
			_ = r.MultipartForm.RemoveAll()
		}
	}
	return p.draftCookies(draftPage(r), r.Form)
}

// KeepTyped returns resp with what the person wrote into the form of a page, which a button beside
// that form sent too. stored are the fields of the form as they are without changes.
func (p *Pages) KeepTyped(r *Request, resp Response, page string, stored url.Values) Response {
	typed, changed := url.Values{"account": r.Form["account"]}, false
	for name, values := range stored {
		if r.Form.Has(name) {
			typed[name] = r.Form[name]
			changed = changed || lines(r.Form[name]) != lines(values)
		}
	}
	if changed {
		resp.Cookies = append(resp.Cookies, p.draftCookies(page, typed)...)
	}
	return resp
}

// lines returns the values of a field as one text with the line breaks of this service; browsers send
// others.
func lines(values []string) string {
	return strings.ReplaceAll(strings.Join(values, "\x00"), "\r\n", "\n")
}

// draftCookies returns the cookie with the fields of a form that people fill in.
func (p *Pages) draftCookies(page string, form url.Values) []*http.Cookie {
	d := draft{Account: form.Get("account"), Page: page, Values: url.Values{}, Ends: p.Now().Add(draftLifetime).Unix()}
	filled := false
	whole := false // a part of a sheet would look like removed marks
	for name, values := range form {
		part := slices.ContainsFunc(draftPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if part || slices.Contains(draftFields, strings.TrimRight(name, "_234")) { // guardian_name_2 is of the second guardian
			d.Values[name] = values
			whole = whole || part
			filled = filled || slices.ContainsFunc(values, func(v string) bool { return v != "" })
		}
	}
	if !filled {
		if form.Has("reason") {
			return []*http.Cookie{p.DropDraft()}
		}
		return nil
	}
	for _, name := range draftContext {
		if values := form[name]; len(values) > 0 {
			d.Values[name] = values
		}
	}
	if len(d.Account) > 64 || len(d.Page) > 256 || !isText(d.Values) {
		return nil
	}
	for {
		packed := d.pack()
		if len(packed) <= maxDraft {
			return []*http.Cookie{p.seal(draftCookie, packed, draftLifetime)}
		}
		if whole {
			return nil
		}
		delete(d.Values, longest(d.Values))
	}
}

// longest returns the name of the field with the longest values.
func longest(values url.Values) (name string) {
	length := -1
	for n, v := range values {
		if l := len(strings.Join(v, "")); l > length {
			name, length = n, l
		}
	}
	return name
}

// pack returns the draft as compressed JSON.
func (d draft) pack() []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(d) // neither the strings nor the buffer can fail
	_ = w.Close()
	return out.Bytes()
}

// readDraft returns the draft of an account for a page, or nil.
func (p *Pages) readDraft(r *Request, account, page string) url.Values {
	packed, ok := p.open(r, draftCookie)
	if !ok {
		return nil
	}
	var d draft
	text := io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxDraftText)
	if json.NewDecoder(text).Decode(&d) != nil || d.Account != account || d.Page != page || p.Now().Unix() > d.Ends {
		return nil
	}
	return d.Values
}

// DropDraft removes the draft of this browser.
func (p *Pages) DropDraft() *http.Cookie { return p.Cookies.Remove(draftCookie) }

// DraftReason returns the reason that an account wrote about a player, or "".
func (p *Pages) DraftReason(r *Request, by actor.Actor, player string) string {
	return p.readDraft(r, by.AccountID, PlayerPath(by.Role, player)).Get("reason")
}

// withDraft calls h with the draft of the page. The draft ends when the form is sent again
// with a session, and when the person asks for the stored values.
func (p *Pages) withDraft(r *Request, by actor.Actor, h func() (Response, error)) (Response, error) {
	forget := func(resp Response) Response {
		resp.Cookies = append(resp.Cookies, p.DropDraft())
		return resp
	}
	if ofQuestion(r) {
		return h()
	}
	switch {
	case r.Method == http.MethodPost:
		had := p.readDraft(r, by.AccountID, draftPage(r)) != nil
		resp, err := h()
		replaced := slices.ContainsFunc(resp.Cookies, func(c *http.Cookie) bool { return c.Name == p.Cookies.name(draftCookie) })
		if had && err == nil && !replaced {
			resp = forget(resp)
		}
		return resp, err
	case r.URL.Query().Has("stored"):
		return forget(Redirect(r.URL.Path)), nil
	}
	r.draft = p.readDraft(r, by.AccountID, r.URL.Path)
	return h()
}

// Restored returns the form with what the person wrote before the browser signed in again,
// or stored.
func (r *Request) Restored(stored *Form) *Form {
	if r.draft == nil {
		return stored
	}
	return &Form{Values: r.draft, Restored: true}
}
