package web

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

// draftCookie keeps the reason that a person wrote for the check page, and while the browser
// signs in again. It is encrypted.
const (
	draftCookie   = "touchline-draft"
	draftLifetime = 30 * time.Minute
	// maxDraft is the longest reason that a draft keeps, in bytes: browsers refuse cookies
	// above 4096 bytes. Every reason within the limit of 500 characters fits.
	maxDraft = 2048
)

// draft is the reason of an answer that was not sent yet.
type draft struct {
	Account, Player string
	Reason          []byte // as base64, because JSON would make some characters longer
	Ends            int64  // Unix seconds
}

// keepDraft returns the cookie with the reason that the form of a player carries. An empty
// one removes an earlier reason.
func (p *Pages) keepDraft(r *Request) []*http.Cookie {
	reason := r.Form.Get("reason")
	if reason == "" && r.Form.Has("reason") {
		return []*http.Cookie{p.cookies.remove(draftCookie)}
	}
	if reason == "" || len(reason) > maxDraft || len(r.Form.Get("account")) > 64 {
		return nil
	}
	plain, err := json.Marshal(draft{r.Form.Get("account"), r.PathValue("player_id"), []byte(reason), p.Now().Add(draftLifetime).Unix()})
	if err != nil {
		return nil
	}
	sealed := base64.RawURLEncoding.EncodeToString(p.Sealer.Seal(plain, draftCookie))
	return []*http.Cookie{p.cookies.secret(p.cookies.name(draftCookie), sealed, draftLifetime)}
}

// draftReason returns the reason that an account wrote about a player before it signed in
// again, or "".
func (p *Pages) draftReason(r *Request, account, player string) string {
	c, err := r.Cookie(p.cookies.name(draftCookie))
	if err != nil {
		return ""
	}
	var d draft
	if !p.unseal(c, draftCookie, &d) || d.Account != account || d.Player != player || p.Now().Unix() > d.Ends {
		return ""
	}
	return string(d.Reason)
}

// unseal decrypts the JSON of a cookie that was sealed for a context.
func (p *Pages) unseal(c *http.Cookie, context string, into any) bool {
	sealed, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return false
	}
	plain, err := p.Sealer.Open(sealed, context)
	return err == nil && json.Unmarshal(plain, into) == nil
}
