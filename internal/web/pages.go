package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/inflight"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/ratelimit"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/player"
)

// Config has the services and settings of the pages. All are required unless the comment
// says otherwise.
type Config struct {
	httpx.Settings
	Auth        *auth.Service
	Approvals   *player.Service
	Directory   *coach.Directory
	Tiers       coach.Tiers
	Tray        *notice.Tray
	Preferences *outbox.Store
	Phones      phone.Parser
	// UnreadReplies counts the unread replies to the calling coach, for the menu.
	UnreadReplies func(ctx context.Context, by actor.Actor) (int, error)
	// LeftOut returns the people whom a message of the calling coach with a text does not reach by SMS or WhatsApp, with the reason of each.
	LeftOut func(ctx context.Context, by actor.Actor, text string, people []notice.Untold) (map[notice.Untold]string, error)
	// Idempotency lets a form work only once.
	Idempotency *idempotency.Service
	// NewSpool creates a temporary file for an upload.
	NewSpool func() (upload.Spool, error)
	// InFlight limits the requests that are handled at the same time; nil means no limit.
	InFlight *inflight.Limits
	// Bodies bounds the memory of bodies; nil means no limit.
	Bodies *bodies.Memory
	// Uploads counts the uploads in progress.
	Uploads        *upload.Limiter
	UploadTimeouts upload.Timeouts
	// MailAddress returns the address to which a token ends mail, or false if it is forged.
	MailAddress func(token string) (address string, ok bool)
	// Sealer encrypts what a cookie must not show.
	Sealer vault.Sealer

	// Brand is the name of the service on pages.
	Brand string
	// AppURL, if not empty, is where the app can be opened instead of a page.
	AppURL string
	// DevelopmentPhones says that /dev/phones shows the codes.
	DevelopmentPhones bool
	// HasNotice says that pages link the notice to families, which the console does not serve.
	HasNotice bool
	// WholeHistory is true if a party reads in the app what a coach added before it approved.
	WholeHistory bool
	// Renderer has the templates and texts of all pages.
	Renderer *Renderer
	// Features list the pages of the features that have a folder.
	Features []func(*Pages) []Route
	// Limiter limits the requests of a client address; nil means no limit.
	Limiter *ratelimit.Limiter
}

// Pages serves the pages. It is safe for concurrent use.
type Pages struct {
	Config
	Cookies Cookies
	render  *Renderer
	origin  *http.CrossOriginProtection
	// identify finds out who sent a request.
	identify func(context.Context, *Request) error
	// forOperators says that these are the pages of the console.
	forOperators bool
}

// New returns the pages. It returns an error if the public URL is not an origin.
func New(c Config) (*Pages, error) {
	origin := http.NewCrossOriginProtection()
	if err := origin.AddTrustedOrigin(c.PublicURL); err != nil {
		return nil, err
	}
	// Web mail and add-ons send this from their own origin (RFC 8058). The token is the authority: no cookie counts.
	origin.AddInsecureBypassPattern("POST /unsubscribe/{token}")
	p := &Pages{Config: c, render: c.Renderer, Cookies: Cookies{secure: strings.HasPrefix(c.PublicURL, "https://")}, origin: origin}
	p.identify = p.identifyAccounts
	return p, nil
}

// Handler is a handler of one page. An error is written as a page.
type Handler func(ctx context.Context, r *Request) (Response, error)

// Route is one page or form.
type Route struct {
	Method string // GET serves HEAD too
	// Pattern is the path, in the syntax of http.ServeMux.
	Pattern string
	Handle  Handler
	// Stream is for a response that stays open: it has no timeout and is not compressed.
	Stream bool
	// Urgent requests are refused last when the process is overloaded: decisions,
	// disputes, sign-out and unsubscribing from mail.
	Urgent bool
	// Upload is for a form with a file: the handler reads the body under the limits of
	// package upload.
	Upload bool
	// LargeForm limits the form of a signed-in coach in bytes; 0 means 64 KiB.
	LargeForm int64
	// Multipart is for a form that may have a multipart body, which is not read.
	Multipart bool
}

// routes lists every page.
func (p *Pages) routes() []Route {
	routes := slices.Concat(p.startRoutes(), p.installRoutes(), p.staticRoutes())
	for _, feature := range p.Features {
		routes = append(routes, feature(p)...)
	}
	return routes
}

// Patterns returns the patterns that GET serves, in the syntax of http.ServeMux: of the pages
// and of the operators' console, with the patterns of features. Tests use it to find a page without a check.
func Patterns(public []func(*Pages) []Route, operators []func(*Console) []Route) (pages, console []string) {
	p, c := &Pages{Config: Config{Features: public}}, &Console{ConsoleConfig: ConsoleConfig{Features: operators}, Pages: new(Pages)}
	return getPatterns(p.routes()), getPatterns(c.routes(nil))
}

func getPatterns(routes []Route) []string {
	var patterns []string
	for _, rt := range routes {
		if rt.Method == http.MethodGet {
			patterns = append(patterns, rt.Pattern)
		}
	}
	return patterns
}

// Handler returns the handler of all pages. It passes every other request to next.
func (p *Pages) Handler(next http.Handler) http.Handler {
	return p.handler(p.routes(), next, "/a/", "/unsubscribe/", "/me/", "/coach/", "/coaches/", "/sign-in/")
}

// handler serves routes, and the page of not_found for the other paths of areas. It passes
// every other request to next.
func (p *Pages) handler(routes []Route, next http.Handler, areas ...string) http.Handler {
	m := &httpx.Middleware{Settings: p.Settings, HTTPS: strings.HasPrefix(p.PublicURL, "https://"), Refuse: p.refuse}
	mux := http.NewServeMux()
	mux.Handle("/", next)
	byPattern := map[string]map[string]Route{}
	for _, rt := range routes {
		if byPattern[rt.Pattern] == nil {
			byPattern[rt.Pattern] = map[string]Route{}
		}
		byPattern[rt.Pattern][rt.Method] = rt
	}
	for pattern, methods := range byPattern {
		mux.Handle(pattern, p.serve(m, pattern, methods))
	}
	for _, area := range areas {
		if byPattern[area] == nil {
			mux.Handle(area, p.serve(m, area, map[string]Route{http.MethodGet: {Handle: withoutSlash}, http.MethodPost: {Handle: notFound}}))
		}
		// Without this http.ServeMux would redirect to the path with a slash, and withoutSlash back.
		if page := strings.TrimSuffix(area, "/"); byPattern[page] == nil {
			mux.Handle(page, p.serve(m, page, map[string]Route{http.MethodGet: {Handle: notFound}, http.MethodPost: {Handle: notFound}}))
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// http.ServeMux redirects a path that is not clean; next answers 404.
		if !httpx.IsClean(r.URL.EscapedPath()) {
			next.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// NotFound serves the page of not_found, within the middleware of another handler.
func (p *Pages) NotFound(w http.ResponseWriter, r *http.Request) { p.refuse(w, r, fault.Missing()) }

// refuse writes the page of an error of a request that no handler has seen.
func (p *Pages) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p.write(w, r, &Request{Request: r, Language: p.language(r)}, Response{}, err)
}
