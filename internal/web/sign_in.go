package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
)

func (p *Pages) signInRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/sign-in/{role}", Handle: p.signInPage},
		{Method: "POST", Pattern: "/sign-in/{role}", Handle: p.askForCode},
		{Method: "GET", Pattern: "/sign-in/code", Handle: p.codePage},
		{Method: "POST", Pattern: "/sign-in/code", Handle: p.enterCode},
		{Method: "POST", Pattern: "/sign-in/again", Handle: p.sendAgain},
		{Method: "POST", Pattern: "/sign-out", Handle: p.signOut, Urgent: true},
	}
}

// signInPage serves GET /sign-in/{role}: it asks for the number. The role is coach,
// guardian, student, or family for a person who chooses between the last two.
func (p *Pages) signInPage(_ context.Context, r *Request) (Response, error) {
	return p.numberForm(r, new(Form))
}

func (p *Pages) numberForm(r *Request, f *Form) (Response, error) {
	role := r.PathValue("role")
	if role != "family" && !actor.Role(role).Valid() {
		return Response{}, fault.Missing()
	}
	v := p.NewView(r, "sign_in.title")
	v.Form = f
	v.Data = map[string]any{"Role": role, "Next": r.Value("next"), "Chosen": r.Value("role"), "OffersEmail": p.OffersEmail(r, f), "PasskeyDomain": p.Passkeys.Domain(), "PasskeyFailed": r.Value("passkey") == "failed"}
	return Page("sign_in", v).withFaults(f), nil
}

// OffersEmail reports whether the page of a number that is blocked offers a code by mail. It does so
// for each number, and does not show whether an address is confirmed.
func (p *Pages) OffersEmail(r *Request, f *Form) bool {
	return f.blocked && p.Auth.Settings.OTPByEmail && !ByEmail(r)
}

// ByEmail reports whether the form asks for a code by mail.
func ByEmail(r *Request) bool { return r.Value("by") == "email" }

// askForCode serves POST /sign-in/{role}: it sends a code to the number.
func (p *Pages) askForCode(ctx context.Context, r *Request) (Response, error) {
	v, f := p.NewView(r, "sign_in.title"), &Form{Values: r.Form}
	role := actor.Role(r.PathValue("role"))
	if role == "family" {
		role = actor.Role(r.Value("role"))
	}
	if !role.Valid() {
		f.Add("role", v.MustT("sign_in.role.fault"))
	}
	number, err := p.Phones.Parse(r.Value("number"))
	if err != nil {
		f.Add("number", v.MustT("sign_in.number.fault"))
	}
	if len(f.Faults) > 0 {
		return p.numberForm(r, f)
	}
	pending := SignIn{Role: role, Number: number, Next: nextFor(role, r.Value("next")), Remember: r.Value("remember") == "yes", ByEmail: ByEmail(r)}
	if err := p.sendCode(ctx, r, pending); err != nil {
		if !isLimit(err) {
			return Response{}, err
		}
		p.AddError(r, f, "number", err)
		return p.numberForm(r, f)
	}
	return p.toCode(pending)
}

// nextFor returns the page after the sign-in: next, or the home of the role.
func nextFor(role actor.Role, next string) string {
	if next != "" && localPath(next) != "/" {
		return localPath(next)
	}
	return Home(role)
}

// Home returns the first page of a role.
func Home(role actor.Role) string {
	if role == actor.Coach {
		return "/coach"
	}
	return "/me/" + string(role)
}

// AskForCode sends a code to the number of a sign-in and leads to the page that asks for it, with
// cookies. sent is false if a limit refuses: its fault is then in the field of f.
func (p *Pages) AskForCode(ctx context.Context, r *Request, s SignIn, f *Form, field string, cookies ...*http.Cookie) (resp Response, sent bool, err error) {
	switch err := p.sendCode(ctx, r, s); {
	case err == nil:
		resp, err = p.toCode(s, cookies...)
		return resp, true, err
	case isLimit(err):
		p.AddError(r, f, field, err)
		return Response{}, false, nil
	default:
		return Response{}, false, err
	}
}

// sendCode sends a code to the number of a sign-in. A code that was sent a moment ago is
// no error: the person can enter it.
func (p *Pages) sendCode(ctx context.Context, r *Request, s SignIn) error {
	err := p.requestCode(ctx, p.otpRequest(r, s))
	if fault.CodeOf(err) == "otp_resend_too_soon" {
		return nil
	}
	return err
}

// requestCode asks for a code. It returns otp_attempts_exceeded if no code leaves because none can be
// used, so that the page does not promise one.
func (p *Pages) requestCode(ctx context.Context, in auth.OTPRequest) error {
	issued, err := p.Auth.RequestOTP(ctx, in)
	if blocked := issued.CheckUsable(p.Now()); blocked != nil {
		return blocked
	}
	return err
}

func (p *Pages) otpRequest(r *Request, s SignIn) auth.OTPRequest {
	return auth.OTPRequest{Number: s.Number, Role: s.Role, Proof: p.proof(r, s), Network: r.Address, Silent: s.Silent}
}

// DeviceProof returns what this browser knows of earlier sign-ins, for a sign-in whose role is not known yet.
func (p *Pages) DeviceProof(r *Request) auth.Proof {
	return p.proof(r, SignIn{})
}

// BeginSession sets the cookies of a session that no code began, and redirects to next if it is a page of
// its role, else to the first page of the role.
func (p *Pages) BeginSession(ctx context.Context, r *Request, grant *auth.PageGrant, next string) Response {
	s := grant.Session
	home := Home(s.Role)
	if next = localPath(next); next != home && !strings.HasPrefix(next, home+"/") {
		next = home
	}
	return p.signedInResponse(ctx, r, SignIn{Role: s.Role, Number: s.Number, Next: next}, grant)
}

// proof returns the proof that this browser is a known device of the number: the token of an
// earlier sign-in, or the link from which this one began.
func (p *Pages) proof(r *Request, s SignIn) auth.Proof {
	proof := auth.Proof{ByEmail: s.ByEmail}
	if c, err := r.Cookie(p.cookies.deviceName(s.Role)); err == nil {
		proof.DeviceToken = c.Value
	}
	for _, role := range actor.Roles {
		if c, err := r.Cookie(p.cookies.deviceName(role)); err == nil && role != s.Role {
			proof.OtherTokens = append(proof.OtherTokens, c.Value)
		}
	}
	if s.Link != "" {
		proof.LinkHash = vault.HashToken(s.Link)
	}
	return proof
}

// isLimit reports whether err is a limit or a refusal that the form can show.
func isLimit(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.TooMany || kind == fault.Forbidden
}

// codePage serves GET /sign-in/code: it asks for the code.
func (p *Pages) codePage(_ context.Context, r *Request) (Response, error) {
	s, ok := p.readPending(r)
	if !ok {
		return beginAgain(s), nil
	}
	return p.codeForm(r, s, new(Form))
}

func (p *Pages) codeForm(r *Request, s SignIn, f *Form) (Response, error) {
	v := p.NewView(r, "code.title")
	v.Form = f
	v.Path = "/sign-in/code"
	v.Data = map[string]any{
		"Number": s.Number, "ShortCode": s.FromLink && s.Link == "" && !s.SignedIn, "Role": s.Role, "Length": p.Auth.Settings.OTPLength,
		// Each number may register as a coach, and a link or a session shows that its number is known here.
		"Known":   s.Role == actor.Coach || s.Link != "" || s.SignedIn,
		"ByEmail": s.ByEmail, "OffersEmail": !s.ByEmail && p.OffersEmail(r, f),
		"Sent": r.URL.Query().Get("sent") == "again", "FixedNumber": s.Link != "" || s.SignedIn, "FirstPage": s.firstPage(),
	}
	return Page("code", v).withFaults(f), nil
}

// sendAgain serves POST /sign-in/again: it sends the code again, or with by=email by mail.
func (p *Pages) sendAgain(ctx context.Context, r *Request) (Response, error) {
	s, ok := p.readPending(r)
	if !ok {
		return beginAgain(s), nil
	}
	first := ByEmail(r) && !s.ByEmail
	s.ByEmail = s.ByEmail || ByEmail(r)
	err := p.requestCode(ctx, p.otpRequest(r, s))
	if err != nil {
		if !isLimit(err) {
			return Response{}, err
		}
		f := new(Form)
		p.AddError(r, f, "code", err)
		return p.codeForm(r, s, f)
	}
	if first {
		return p.toCode(s)
	}
	return Redirect("/sign-in/code?sent=again"), nil
}

// enterCode serves POST /sign-in/code: it checks the code and begins the session.
func (p *Pages) enterCode(ctx context.Context, r *Request) (Response, error) {
	s, ok := p.readPending(r)
	if !ok {
		return beginAgain(s), nil
	}
	f := &Form{Values: url.Values{}}
	otp := otpDigits(r.Value("code"))
	if len(otp) != p.Auth.Settings.OTPLength {
		f.Add("code", p.NewView(r, "code.title").MustT("code.code.fault", "Count", p.Auth.Settings.OTPLength))
		return p.codeForm(r, s, f)
	}
	grant, err := p.Auth.PageLogin(ctx, p.pageSignIn(r, s, otp))
	switch {
	case err == nil:
		return p.signedInResponse(ctx, r, s, grant), nil
	case isCodeFault(err):
		p.AddError(r, f, "code", err)
		return p.codeForm(r, s, f)
	}
	return Response{}, err
}

func (p *Pages) pageSignIn(r *Request, s SignIn, otp string) auth.PageSignIn {
	in := auth.PageSignIn{
		Key: auth.ChallengeKey{Number: s.Number, Role: s.Role}, OTP: otp, Proof: p.proof(r, s),
		DeviceName: DeviceName(r.UserAgent()), Lifetime: auth.PageLifetime, SessionID: s.SessionID,
	}
	if s.Remember {
		in.Lifetime = auth.RememberedLifetime
	}
	if s.FromLink {
		in.Idle = auth.LinkIdle
	}
	return in
}

// signedInResponse sets the cookies of a new session and redirects to the next page. It ends the
// session that the new one replaces in this browser. It only logs a failure, because the code is
// used up and the new session would be lost.
func (p *Pages) signedInResponse(ctx context.Context, r *Request, s SignIn, grant *auth.PageGrant) Response {
	warn := func(failed string, err error) {
		if err != nil {
			p.Log.WarnContext(ctx, failed, "trace_id", httpx.InfoFrom(ctx).TraceID, "error", err)
		}
	}
	if replaced, ok := r.Actor(s.Role); ok && replaced.SessionID != grant.Session.ID {
		warn("end the session that a sign-in replaces", p.Auth.Logout(ctx, replaced, false))
	}
	cookies, err := p.applyLanguage(ctx, r, s.Number)
	warn("apply the language of a number that signed in", err)
	return Redirect(s.Next, append(cookies,
		p.cookies.remove(p.cookies.name(pendingCookie)),
		p.cookies.cookie(p.cookies.sessionName(s.Role), grant.Token, grant.Ends),
		p.cookies.cookie(p.cookies.deviceName(s.Role), grant.DeviceToken, grant.DeviceEnds))...)
}

// isCodeFault reports whether err is about the code, so that the form can show it. The form is
// also the page of a canceled request, which no client reads.
func isCodeFault(err error) bool {
	code := fault.CodeOf(err)
	return strings.HasPrefix(code, "otp_") || code == "account_suspended" || errors.Is(err, context.Canceled)
}

// otpDigits returns the digits of a code as a person types it, in the digits of any script.
func otpDigits(typed string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '-' {
			return -1
		}
		return phone.ASCIIDigit(r)
	}, typed)
}
