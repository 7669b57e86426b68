package web

import (
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Texts writes texts, times and amounts in the language and time zone of a page.
type Texts struct {
	now   time.Time
	zone  *time.Location
	texts *translation
}

// View is the argument of a page template.
type View struct {
	Texts
	Language string
	Brand    string
	// TitleKey is the text of the title in the browser's tab. It must contain no name on a page that
	// everyone with a link may see, because phones show it in lists.
	TitleKey string
	// TitleName is a name before the text of TitleKey on a page of a signed-in account: of a child, a batch or a person.
	TitleName string
	// PublicTitle is used instead of TitleKey, and Description for search engines, on a page
	// that everyone may see. They may name a coach.
	PublicTitle, Description string
	// Caller is the signed-in account that the page is for; nil on public pages.
	Caller *actor.Actor
	// Operator is the signed-in operator on the operators' listener, or nil.
	Operator *operator.Session
	// Section is the current item of the coach's menu.
	Section string
	// InlineStyle puts the style sheet into the page, for a first view in one response.
	InlineStyle bool
	// Path is the address to which a change of the language returns: the address of the page, or of the
	// first page of the role if the page is the response to a form and has no address.
	Path string
	// HidePath leaves Path out of the page, for pages that must be equal at every address.
	// The browser then sends it as the Referer.
	HidePath bool
	// AppURL is where the app can be opened instead, or empty.
	AppURL string
	// Notice says that the page links the notice to families.
	Notice bool
	// NotificationSeq is the Seq of the caller's newest notification. The page was read after
	// it, so a live page needs only later ones.
	NotificationSeq int64
	// Stream is the stream of a page that is live without a caller, or "".
	Stream string
	// Unread is the number of unread notifications, and Replies, for coaches, that of unread replies of families.
	Unread, Replies int
	// countMenu says that both are read before the page is rendered.
	countMenu bool
	// pageLanguage returns the language of the page for a chosen one.
	pageLanguage func(chosen string) string
	Data         any
	Form         *Form

	Style template.CSS
}

// Events returns the stream that tells the page of a change, or "".
func (v *View) Events() string {
	if v.Stream != "" {
		return v.Stream
	}
	if v.Caller == nil || v.Caller.Role == actor.Coach && v.Section == "" {
		return ""
	}
	return fmt.Sprintf("%s/events?after=%d", Home(v.Caller.Role), v.NotificationSeq)
}

// NewView returns the View of a page with the title of a key.
func (p *Pages) NewView(r *Request, title string) *View {
	v := &View{
		Language: r.Language, Brand: p.Brand, AppURL: p.AppURL, Notice: p.HasNotice, TitleKey: title, Style: p.render.style, pageLanguage: p.pageLanguage(r.URL.Path),
		Texts: Texts{now: p.Now(), zone: time.UTC, texts: p.render.catalogue(r.Language)}, Form: new(Form),
	}
	if r.Zone != nil {
		v.zone = r.Zone
	}
	switch {
	case r.Method == "GET" || r.Method == "HEAD":
		v.Path = r.URL.RequestURI()
	case r.hasPage:
		v.Path = r.URL.EscapedPath()
	default:
		v.Path = startPage(r.URL.Path)
	}
	return v
}

// Now returns the time of the page.
func (v *View) Now() time.Time { return v.now }

// WhatsApp returns the address that opens WhatsApp with a text, for the person to choose whom to send it to.
func (v *View) WhatsApp(text string) string {
	return "https://wa.me/?text=" + strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

// Today returns the current day of the reader, YYYY-MM-DD.
func (v *Texts) Today() string { return v.now.In(v.zone).Format(time.DateOnly) }

// T returns the text of key. The arguments are names and values in turn; Count selects
// the plural form.
func (v *Texts) T(key string, pairs ...any) (string, error) {
	return v.texts.localize(key, pairs)
}

// H is T for a text with the elements <b> and <br>. The values are escaped.
func (v *Texts) H(key string, pairs ...any) (template.HTML, error) {
	escaped := make([]any, len(pairs))
	for i, value := range pairs {
		escaped[i] = value
		if i%2 == 1 {
			if s, ok := value.(string); ok {
				escaped[i] = template.HTMLEscapeString(s)
			}
		}
	}
	s, err := v.texts.localize(key, escaped)
	return template.HTML(s), err
}

// MustT is T for handlers: a test checks that every key exists.
func (v *Texts) MustT(key string, pairs ...any) string {
	s, err := v.T(key, pairs...)
	if err != nil {
		panic(err)
	}
	return s
}

// TextOr returns the text of a key that may not exist, or other.
func (v *Texts) TextOr(key, other string) string {
	if s, err := v.T(key); err == nil {
		return s
	}
	return other
}

// Channel returns the name of a channel.
func (v *View) Channel(c message.Channel) string { return v.TextOr("channel."+string(c), string(c)) }

// Reason returns why a delivery waits or failed and what to do, or "".
func (v *View) Reason(d approval.Delivery) string {
	if d.State == message.QueuedState && d.Hold != "" && d.Hold != message.HoldNumber {
		return v.MustT("delivery.held."+string(d.Hold), "When", v.DateTime(d.DueAt))
	}
	if d.Channel == message.Email || d.Channel == message.Voice {
		if text := v.ownReason(d); text != "" {
			return text
		}
	}
	if d.State == message.FailedState && d.Cause != "" {
		if text, err := v.T("delivery.cause."+d.Cause, "Wait", v.elapsed(d.At.Sub(d.QueuedAt))); err == nil {
			return text
		}
	}
	return v.TextOr("delivery.reason."+d.Reason, "")
}

// ownReason returns why a mail or a call waits or failed, or "" if the text is the same as on other channels.
func (v *View) ownReason(d approval.Delivery) string {
	texts := "delivery." + string(d.Channel) + "."
	if d.State == message.FailedState && d.Cause != "" {
		if text := v.TextOr(texts+d.Cause, ""); text != "" {
			return text
		}
	}
	return v.TextOr(texts+d.Reason, "")
}

// elapsed returns a duration in whole minutes, hours or days: "47 hours", "2 days".
func (v *Texts) elapsed(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return v.MustT("time.minutes", "Count", max(1, int(d.Minutes())))
	case d < 48*time.Hour:
		return v.MustT("time.hours", "Count", int(d.Hours()))
	}
	return v.MustT("time.days", "Count", int(d.Hours())/24)
}

// Title returns the text of the browser's tab.
func (v *View) Title() (string, error) {
	if v.PublicTitle != "" {
		return v.PublicTitle, nil
	}
	text, err := v.T(v.TitleKey)
	if v.TitleName != "" {
		text = v.TitleName + " · " + text
	}
	return text, err
}

// Mask is Masked.
func (v *View) Mask(n phone.Number) string { return Masked(n) }

// Masked returns the last four digits of a number: "•••• 5680". No line breaks inside it.
func Masked(n phone.Number) string { return strings.ReplaceAll(n.Ending(), " ", "\u00a0") }

// OtherLanguages returns the languages that the page can have, without the language of the page.
func (v *View) OtherLanguages() []string {
	var others []string
	for _, l := range language.Offered() {
		if l != v.Language && (v.pageLanguage == nil || v.pageLanguage(l) == l) {
			others = append(others, l)
		}
	}
	return others
}

// maxLanguages is how many names of languages the header of a page shows side by side.
const maxLanguages = 3

// ManyLanguages reports whether the names need more space than the header has.
func (v *View) ManyLanguages() bool { return len(v.OtherLanguages()) > maxLanguages }

// Languages returns the languages of the service.
func (v *View) Languages() []string { return language.Offered() }

// LanguageName returns the name of a language in that language.
func (v *View) LanguageName(code string) string { return language.Of(code).Name }

// LanguageIn returns the name of a language in the language of the page.
func (v *View) LanguageIn(code string) string { return v.texts.NameOf(code) }

// NotRead names the offered languages in which no native speaker is recorded to have read all texts of a question.
func (v *View) NotRead() string {
	var names []string
	for _, code := range language.Offered() {
		if language.NotRead()[code] > 0 {
			names = append(names, v.LanguageIn(code))
		}
	}
	return strings.Join(names, v.texts.Comma)
}

// DirectionOf returns the direction of a language, for a part of the page in another one.
func (v *View) DirectionOf(code string) string { return language.Of(code).Direction() }

// Direction returns the direction of the language of the page, for the attribute dir.
func (v *View) Direction() string { return v.texts.Direction() }

// Account returns the id that forms of the page carry: under another account a form
// changes nothing.
func (v *View) Account() string {
	if v.Caller == nil {
		return ""
	}
	return v.Caller.AccountID
}

// excerptLength is how much of a text a list shows, in characters.
const excerptLength = 120

// Excerpt returns the beginning of a text on one line.
func (v *View) Excerpt(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > excerptLength {
		return string(runes[:excerptLength-1]) + "…"
	}
	return string(runes)
}

// Chosen reports whether the form has a value of a field that may have several.
func (v *View) Chosen(field, value string) bool { return slices.Contains(v.Form.Values[field], value) }
