package signin

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/web"
)

// signInPage serves GET /sign-in/{role}: it asks for the number. The role is coach,
// guardian, student, or family for a person who chooses between the last two.
func (p pages) signInPage(_ context.Context, r *web.Request) (web.Response, error) {
	return p.numberForm(r, new(web.Form))
}

func (p pages) numberForm(r *web.Request, f *web.Form) (web.Response, error) {
	role := r.PathValue("role")
	if role != "family" && !actor.Role(role).Valid() {
		return web.Response{}, fault.Missing()
	}
	v := p.site.NewView(r, "sign_in.title")
	v.Form = f
	if _, typed := f.Values["number"]; !typed {
		f.Values = url.Values{"number": {signedInNumber(r)}}
	}
	chatFirst, chatToo := p.offersChat()
	data := map[string]any{"Role": role, "Next": r.Value("next"), "Chosen": r.Value("role"), "OffersEmail": p.OffersEmail(r, f), "ChatFirst": chatFirst, "ChatToo": chatToo}
	p.addPasskeys(r, data)
	v.Data = data
	return web.FormPage("sign_in", v), nil
}

// signedInNumber returns the number of this browser's session in another role, or "": most people have one number for all roles.
func signedInNumber(r *web.Request) string {
	for _, role := range actor.Roles {
		if by, ok := r.Actor(role); ok {
			return by.Number.Format()
		}
	}
	return ""
}

// offersChat reports whether the page offers to ask for the code by WhatsApp before the button of an SMS, or after it. Where the numbers
// are Indian, WhatsApp is first, because SMS are late and filtered. In development it is second: the terminal has the code of an SMS.
func (p pages) offersChat() (first, too bool) {
	settings := p.Auth.Settings
	offered := settings.WhatsAppNumber != "" && settings.DefaultRegion == "IN"
	return offered && !settings.WhatsAppLog, offered && settings.WhatsAppLog
}

// OffersEmail reports whether the page of a number that is blocked offers a code by mail. It does so
// for each number, and does not show whether an address is confirmed.
func (s Service) OffersEmail(r *web.Request, f *web.Form) bool {
	return f.Blocked && s.Auth.Settings.OTPByEmail && !ByEmail(r)
}

// ByEmail reports whether the form asks for a code by mail.
func ByEmail(r *web.Request) bool { return r.Value("by") == "email" }

// askForCode serves POST /sign-in/{role}: it sends a code to the number.
func (p pages) askForCode(ctx context.Context, r *web.Request) (web.Response, error) {
	v, f := p.site.NewView(r, "sign_in.title"), &web.Form{Values: r.Form}
	role := actor.Role(r.PathValue("role"))
	if role == "family" {
		role = actor.Role(r.Value("role"))
	}
	if !role.Valid() {
		f.Add("role", v.MustT("sign_in.role.fault"))
	}
	number, err := p.site.Phones.Parse(r.Value("number"))
	if err != nil {
		f.Add("number", v.MustT("sign_in.number.fault"))
	}
	if len(f.Faults) > 0 {
		return p.numberForm(r, f)
	}
	pending := SignIn{Role: role, Number: number, Next: nextFor(role, r.Value("next")), Remember: r.Value("remember") == "yes", ByEmail: ByEmail(r), Asks: p.asks(r)}
	if err := p.sendCode(ctx, r, pending); err != nil {
		if !isLimit(err) {
			return web.Response{}, err
		}
		p.site.AddError(r, f, "number", err)
		return p.numberForm(r, f)
	}
	return p.toCode(pending)
}

// asks returns the channel on which the person wants to ask for a code, or "".
func (p pages) asks(r *web.Request) auth.Incoming {
	in := map[string]auth.Incoming{"whatsapp": auth.WhatsAppIncoming, "text": auth.SMSIncoming}[r.Value("by")]
	if in == "" || p.Auth.Settings.AskNumber(in) == "" {
		return ""
	}
	return in
}

// nextFor returns the page after the sign-in: next, or the home of the role.
func nextFor(role actor.Role, next string) string {
	if next != "" && web.LocalPath(next) != "/" {
		return web.LocalPath(next)
	}
	return web.Home(role)
}

// AskForCode sends a code to the number of a sign-in and leads to the page that asks for it, with
// cookies. sent is false if a limit refuses: its fault is then in the field of f.
func (s Service) AskForCode(ctx context.Context, site *web.Pages, r *web.Request, in SignIn, f *web.Form, field string, cookies ...*http.Cookie) (resp web.Response, sent bool, err error) {
	p := pages{s, site}
	switch err := p.sendCode(ctx, r, in); {
	case err == nil:
		resp, err = p.toCode(in, cookies...)
		return resp, true, err
	case isLimit(err):
		p.site.AddError(r, f, field, err)
		return web.Response{}, false, nil
	default:
		return web.Response{}, false, err
	}
}

// sendCode sends a code to the number of a sign-in. A code that was sent a moment ago is
// no error: the person can enter it.
func (p pages) sendCode(ctx context.Context, r *web.Request, s SignIn) error {
	err := p.requestCode(ctx, p.otpRequest(r, s))
	if fault.CodeOf(err) == "otp_resend_too_soon" {
		return nil
	}
	return err
}

// requestCode asks for a code. It returns otp_attempts_exceeded if no code leaves because none can be
// used, so that the page does not promise one.
func (p pages) requestCode(ctx context.Context, in auth.OTPRequest) error {
	issued, err := p.Auth.RequestOTP(ctx, in)
	if blocked := issued.CheckUsable(p.site.Now()); blocked != nil {
		return blocked
	}
	return err
}

func (p pages) otpRequest(r *web.Request, s SignIn) auth.OTPRequest {
	return auth.OTPRequest{Number: s.Number, Role: s.Role, Proof: p.proof(r, s), Network: r.Address, Silent: s.Silent, Incoming: s.Asks, AskedWith: askedWith(r.UserAgent())}
}

// proof returns the proof that this browser is a known device of the number: the token of an
// earlier sign-in, or the link from which this one began.
func (p pages) proof(r *web.Request, s SignIn) auth.Proof {
	proof := auth.Proof{ByEmail: s.ByEmail, DeviceToken: p.site.Cookies.Value(r, web.DeviceCookie(s.Role))}
	for _, role := range actor.Roles {
		if token := p.site.Cookies.Value(r, web.DeviceCookie(role)); token != "" && role != s.Role {
			proof.OtherTokens = append(proof.OtherTokens, token)
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
func (p pages) codePage(_ context.Context, r *web.Request) (web.Response, error) {
	s, ok := p.readPending(r)
	if !ok {
		return beginAgain(s), nil
	}
	return p.codeForm(r, s, new(web.Form))
}

func (p pages) codeForm(r *web.Request, s SignIn, f *web.Form) (web.Response, error) {
	v := p.site.NewView(r, "code.title")
	v.Form = f
	v.Path = "/sign-in/code"
	settings, sends := p.Auth.Settings, !s.ByEmail && s.Asks == ""
	data := map[string]any{
		"Asks": s.Asks, "OffersChat": sends && settings.WhatsAppNumber != "", "OffersText": sends && settings.SMSNumber != "",
		"Number": s.Number, "ShortCode": s.FromLink && s.Link == "" && !s.SignedIn, "Role": s.Role, "Length": p.Auth.Settings.OTPLength,
		// Each number may register as a coach, and a link or a session shows that its number is known here.
		"Known":   s.Role == actor.Coach || s.Link != "" || s.SignedIn,
		"ByEmail": s.ByEmail, "OffersEmail": !s.ByEmail && p.OffersEmail(r, f),
		"OffersCall": sends && p.Auth.Settings.OTPByVoice, "Called": r.URL.Query().Get("sent") == "call",
		"Sent": r.URL.Query().Get("sent") == "again", "FixedNumber": s.Link != "" || s.SignedIn, "FirstPage": s.firstPage(),
		"Phones": p.site.DevelopmentPhones,
	}
	if !s.FromLink && !s.SignedIn {
		data["PasskeyDomain"] = p.Passkeys.Domain()
	}
	if s.Asks != "" {
		text, number := message.SignInText(r.Language, p.site.Brand), settings.AskNumber(s.Asks)
		data["AskTo"], data["AskText"], data["AskURL"] = phone.Number(number).Format(), text, template.URL(settings.AskURL(s.Asks, escapedText(text))) // of settings
		if p.site.DevelopmentPhones {
			data["AskURL"] = "/dev/phones?" + url.Values{"number": {string(s.Number)}, "text": {text}}.Encode()
		}
	}
	v.Data = data
	return web.FormPage("code", v), nil
}

// sendAgain serves POST /sign-in/again: it sends the code again, with by=email by mail, with by=voice by
// call.
func (p pages) sendAgain(ctx context.Context, r *web.Request) (web.Response, error) {
	s, ok := p.readPending(r)
	if !ok {
		return beginAgain(s), nil
	}
	first := ByEmail(r) && !s.ByEmail
	s.ByEmail = s.ByEmail || ByEmail(r)
	if asks := p.asks(r); asks != s.Asks {
		s.Asks, first = asks, true
	}
	in := p.otpRequest(r, s)
	in.ByVoice = r.Value("by") == "voice" && !s.ByEmail && p.Auth.Settings.OTPByVoice
	err := p.requestCode(ctx, in)
	if err != nil {
		if !isLimit(err) {
			return web.Response{}, err
		}
		f := new(web.Form)
		p.site.AddError(r, f, "code", err)
		return p.codeForm(r, s, f)
	}
	switch {
	case first:
		return p.toCode(s)
	case in.ByVoice:
		return web.Redirect("/sign-in/code?sent=call"), nil
	}
	return web.Redirect("/sign-in/code?sent=again"), nil
}

// enterCode serves POST /sign-in/code: it checks the code and begins the session.
func (p pages) enterCode(ctx context.Context, r *web.Request) (web.Response, error) {
	s, ok := p.readPending(r)
	if !ok {
		return beginAgain(s), nil
	}
	f := &web.Form{Values: url.Values{}}
	otp := input.Code(r.Value("code"))
	if len(otp) != p.Auth.Settings.OTPLength {
		f.Add("code", p.site.NewView(r, "code.title").MustT("code.code.fault", "Count", p.Auth.Settings.OTPLength))
		return p.codeForm(r, s, f)
	}
	grant, err := p.Auth.PageLogin(ctx, p.pageSignIn(r, s, otp))
	switch {
	case err == nil:
		return p.offerPasskey(ctx, r, s, grant), nil
	case isCodeFault(err):
		p.site.AddError(r, f, "code", err)
		return p.codeForm(r, s, f)
	}
	return web.Response{}, err
}

func (p pages) pageSignIn(r *web.Request, s SignIn, otp string) auth.PageSignIn {
	in := auth.PageSignIn{
		Key: auth.ChallengeKey{Number: s.Number, Role: s.Role}, OTP: otp, Proof: p.proof(r, s),
		DeviceName: deviceName(r.UserAgent()), Lifetime: auth.PageLifetime, SessionID: s.SessionID,
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
func (p pages) signedInResponse(ctx context.Context, r *web.Request, s SignIn, grant *auth.PageGrant) web.Response {
	warn := func(failed string, err error) {
		if err != nil {
			p.site.Log.WarnContext(ctx, failed, "trace_id", httpx.InfoFrom(ctx).TraceID, "error", err)
		}
	}
	if replaced, ok := r.Actor(s.Role); ok && replaced.SessionID != grant.Session.ID {
		warn("end the session that a sign-in replaces", p.Auth.Logout(ctx, replaced, false))
	}
	cookies, err := p.site.ApplyLanguage(ctx, r, s.Number)
	warn("apply the language of a number that signed in", err)
	return web.Redirect(s.Next, append(cookies,
		p.site.Cookies.Remove(pendingCookie),
		p.site.Cookies.Set(web.SessionCookie(s.Role), grant.Token, grant.Ends),
		p.site.Cookies.Set(web.DeviceCookie(s.Role), grant.DeviceToken, grant.DeviceEnds))...)
}

// signOut serves POST /sign-out: it ends the session of a role in this browser, or with
// all=yes every session of the number.
func (p pages) signOut(ctx context.Context, r *web.Request) (web.Response, error) {
	role := actor.Role(r.Value("role"))
	if !role.Valid() {
		return web.Response{}, fault.Missing()
	}
	cookie := p.site.Cookies.Remove(web.SessionCookie(role))
	by, ok := r.Actor(role)
	switch {
	case !ok:
		return web.Redirect("/", cookie), nil
	case r.Form.Get("account") != by.AccountID:
		return p.site.OtherAccount(r, by), nil
	}
	if err := p.Auth.Logout(ctx, by, r.Value("all") == "yes"); err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/", cookie), nil
}

// isCodeFault reports whether err is about the code, so that the form can show it. The form is
// also the page of a canceled request, which no client reads.
func isCodeFault(err error) bool {
	code := fault.CodeOf(err)
	return strings.HasPrefix(code, "otp_") || code == "account_suspended" || errors.Is(err, context.Canceled)
}
