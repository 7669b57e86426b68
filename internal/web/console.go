package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/ratelimit"
)

// ConsoleConfig has the settings of the operators' console.
type ConsoleConfig struct {
	httpx.Settings
	// Tokens knows the operators, their sessions and the audit log.
	Tokens *operator.Service
	Phones phone.Parser
	// Renderer has the templates and texts of all pages.
	Renderer *Renderer
	// Features list the pages of the features that have a folder.
	Features []func(*Console) []Route
	// Brand is the name of the service on pages.
	Brand string
	// HTTPS says that operators use https, of this listener or of a proxy, so that cookies need it.
	HTTPS bool
}

// Console serves the operators' pages on the operators' listener. It shows nothing about
// players and their consents.
type Console struct {
	ConsoleConfig
	// Pages has the parts that the console shares with the public pages.
	Pages    *Pages
	attempts *ratelimit.Limiter
}

// NewConsole returns the console.
func NewConsole(c ConsoleConfig) (*Console, error) {
	pages, err := New(Config{Bodies: new(bodies.Memory), Settings: c.Settings, Brand: c.Brand, Renderer: c.Renderer})
	if err != nil {
		return nil, err
	}
	pages.Cookies.secure, pages.forOperators = c.HTTPS, true
	pages.origin = http.NewCrossOriginProtection() // the public pages are another site for the console
	console := &Console{ConsoleConfig: c, Pages: pages, attempts: ratelimit.New(signInsPerMinute)}
	pages.identify = console.identify
	return console, nil
}

const (
	// operatorCookie is the name of the cookie of an operator's session, without prefix.
	operatorCookie = actor.Role("operator")
	// afterSignIn is the query of the page after a sign-in. Over http a browser keeps no cookie
	// that needs https, unless the address is on the same machine.
	afterSignIn = "signed-in"
	// signInsPerMinute limits the sign-ins from one address, and so the entries of the audit
	// log about wrong tokens.
	signInsPerMinute = 10
)

// routes lists every page of the console. The start page answers programs with next.
func (c *Console) routes(next http.Handler) []Route {
	routes := []Route{
		{Method: "GET", Pattern: "/{$}", Handle: c.overview(next)},
		{Method: "POST", Pattern: "/sign-in", Handle: c.signIn},
		{Method: "POST", Pattern: "/sign-out", Handle: c.signOut},
		{Method: "POST", Pattern: "/language", Handle: c.Pages.chooseLanguage},
	}
	for _, feature := range c.Features {
		routes = append(routes, feature(c)...)
	}
	return append(routes, c.Pages.staticRoutes()...)
}

// Handler returns the handler of the console. It passes every other request to next.
func (c *Console) Handler(next http.Handler) http.Handler {
	return c.Pages.handler(c.routes(next), next, "/kyc/", "/coaches/", "/tier-requests/", "/deliveries/", "/webhooks/", "/guardian-proofs/")
}

// identify resolves the session cookie of an operator.
func (c *Console) identify(ctx context.Context, r *Request) error {
	token := c.Pages.Cookies.Value(r, SessionCookie(operatorCookie))
	if token == "" {
		return nil
	}
	session, err := c.Tokens.Session(ctx, token)
	if fault.KindOf(err) == fault.Unauthenticated {
		return nil
	}
	r.Operator = session
	return err
}

// Scope returns a handler that is called for an operator whose token has a scope, with identifiers in the path.
func (c *Console) Scope(required operator.Scope, h func(context.Context, *Request, actor.Operator) (Response, error)) Handler {
	return func(ctx context.Context, r *Request) (Response, error) {
		if r.Operator == nil {
			return Redirect("/"), nil
		}
		by := r.Operator.Token.Operator()
		httpx.InfoFrom(ctx).OperatorID = by.ID
		if err := c.Tokens.RequireScope(&r.Operator.Token, required); err != nil {
			if recorded := c.Tokens.Record(ctx, by, operator.ScopeRefused, "token", by.ID, "scope "+string(required)); recorded != nil {
				return Response{}, recorded
			}
			return Response{}, err
		}
		if err := r.checkIDs(httpx.InfoFrom(ctx).Route); err != nil {
			return Response{}, err
		}
		return h(ctx, r, by)
	}
}

// NewView returns the View of a page for a signed-in operator.
func (c *Console) NewView(r *Request, section, title string) *View {
	v := c.Pages.NewView(r, title)
	v.Section = section
	v.Operator = r.Operator
	return v
}

// overview serves GET / for people: the sign-in, or the sections that the token allows.
// Programs get the response of next.
func (c *Console) overview(next http.Handler) Handler {
	return func(ctx context.Context, r *Request) (Response, error) {
		r.w.Header().Add("Vary", "Accept")
		switch {
		case !strings.Contains(r.Header.Get("Accept"), "text/html"):
			return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
				next.ServeHTTP(w, r)
				return nil
			}}, nil
		case r.Operator == nil:
			f := new(Form)
			if r.URL.Query().Has(afterSignIn) && c.HTTPS && r.TLS == nil {
				f.Add("token", c.Pages.NewView(r, "operator.title").MustT("operator.cookie.fault"))
			}
			return c.signInForm(r, f), nil
		}
		counts, err := c.Tokens.Counts(ctx)
		if err != nil {
			return Response{}, err
		}
		v := c.NewView(r, "overview", "operator.title")
		v.Data = v.waiting(counts)
		return Page("operator", v), nil
	}
}

// waitingItem is a number on the overview, and the page of what it counts, "" if the token does not allow it or there is none.
type waitingItem struct {
	Name, Path string
	Count      int
}

// waiting lists what waits for operators.
func (v *View) waiting(counts operator.Counts) []waitingItem {
	items := []waitingItem{
		{"kyc", "/kyc", counts.Verifications},
		{"names", "/names", counts.Names},
		{"tier-requests", "/tier-requests", counts.TierRequests},
		{"deliveries", "/deliveries", counts.FailedDeliveries},
		{"webhooks", "/webhooks", counts.Webhooks},
		{"disputes", "", counts.Disputes},
	}
	menu := v.consoleMenu()
	for i := range items {
		section := items[i].Path
		if section == "/names" {
			section = "/kyc"
		}
		if !slices.ContainsFunc(menu, func(m MenuItem) bool { return m.Path == section }) {
			items[i].Path = ""
		}
	}
	return slices.DeleteFunc(items, func(i waitingItem) bool { return i.Path == "" && i.Name != "disputes" })
}

func (c *Console) signInForm(r *Request, f *Form) Response {
	v := c.Pages.NewView(r, "operator.sign_in.title")
	v.Form = f
	return FormPage("operator_sign_in", v)
}

// signIn serves POST /sign-in: it exchanges a token for a session of 8 hours.
func (c *Console) signIn(ctx context.Context, r *Request) (Response, error) {
	if err := c.attempts.Allow(r.Address, c.Pages.Now()); err != nil {
		return Response{}, err
	}
	session, secret, err := c.Tokens.SignIn(ctx, strings.TrimSpace(r.Form.Get("token")))
	if fault.KindOf(err) == fault.Unauthenticated {
		c.Pages.refused(r, err)
		if err := c.Tokens.Record(ctx, actor.Operator{Name: "refused token"}, operator.TokenRefused, "token", "", fault.CodeOf(err)); err != nil {
			return Response{}, err
		}
		f := new(Form)
		f.Add("token", c.Pages.NewView(r, "operator.title").MustT("operator.token.fault"))
		return c.signInForm(r, f), nil
	}
	if err != nil {
		return Response{}, err
	}
	lifetime := session.EndsAt.Sub(c.Pages.Now())
	return Redirect("/?"+afterSignIn, c.Pages.Cookies.Set(SessionCookie(operatorCookie), secret, lifetime)), nil
}

// signOut serves POST /sign-out.
func (c *Console) signOut(ctx context.Context, r *Request) (Response, error) {
	if token := c.Pages.Cookies.Value(r, SessionCookie(operatorCookie)); token != "" {
		if err := c.Tokens.SignOut(ctx, token); err != nil {
			return Response{}, err
		}
	}
	return Redirect("/", c.Pages.Cookies.Remove(SessionCookie(operatorCookie))), nil
}

// ListPage is the length of one page of a list on the operators' pages.
const ListPage = 50

// LastOfFull returns the last entry of a full page, after which the next page begins, or nil.
func LastOfFull[T any](list []T) *T {
	if len(list) < ListPage {
		return nil
	}
	return &list[len(list)-1]
}
