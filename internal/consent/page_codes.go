package consent

import (
	"context"
	"html/template"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/qr"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/web"
)

// codeView is the QR code of an open request, for a screen or for paper.
type codeView struct {
	Student string
	Party   actor.Role
	// Guardian is the first name and relationship of one of several guardians, else empty.
	Guardian  string
	ShortCode string
	// Image is the code as SVG. It leads to Address with the short code, which needs the
	// number too. It never holds a token.
	Image   template.HTML
	Address string
	// Coach is the name of the coach or "the coach", and Link the address in the code.
	Coach, Link string
}

// codesPerSheet is the number of codes of a page: two columns on A4. A code takes about
// 1 ms and 4 KB.
const codesPerSheet = 8

func (p pages) newCode(v *web.View, player *approval.Player, party *approval.Party) (codeView, error) {
	short := party.OpenRequest().ShortCode
	link := qr.AnswerURL(p.site.PublicURL, short)
	image, err := qr.SVG(link, v.MustT("code.label", "Code", short))
	coach := v.MustT("question.the_coach")
	if name := message.Name(player.CoachName, ""); name != "" {
		coach = v.MustT("question.coach", "Coach", name)
	}
	guardian := ""
	if party.Role == actor.Guardian && len(player.Guardians()) > 1 {
		guardian = party.FirstName() + " (" + party.Relationship + ")"
	}
	return codeView{player.Student.FullName, party.Role, guardian, short, image, p.site.PublicURL + "/a", coach, link}, err
}

// hasCode reports whether a party can answer with a short code.
func hasCode(party *approval.Party) bool {
	open := party.OpenRequest()
	return open != nil && open.ShortCode != ""
}

// qrPage serves GET /coach/players/{player_id}/qr?party=…: the code to show at the ground.
func (p pages) qrPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("player_id")
	named, err := partyOf(r)
	if err != nil {
		return web.Response{}, err
	}
	player, err := p.Player(ctx, by, id)
	if err != nil {
		return web.Response{}, err
	}
	party := player.Find(named.role, named.guardianID)
	if party == nil {
		return web.Response{}, fault.Missing()
	}
	if !hasCode(party) {
		return web.Redirect(web.CoachPlayer(id)), nil // answered or taken back since the page was rendered
	}
	v := p.site.CoachView(r, "players", "code.show.title", by)
	code, err := p.newCode(v, player, party)
	if err != nil {
		return web.Response{}, err
	}
	v.Data = map[string]any{"Code": code, "Player": player}
	return web.Page("code_show", v), nil
}

// sheet serves GET /coach/players/sheet?player=…&player=…, or batch=…: a page to print with
// the codes of the selected players, or of the players of a batch.
func (p pages) sheet(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if r.Value("batch") != "" {
		return p.batchSheet(ctx, r, by)
	}
	ids := slices.DeleteFunc(slices.Clone(r.Form["player"]), func(id string) bool { return !endpoint.IsID(id) })
	if len(ids) > web.SelectedPlayers {
		return web.Response{}, fault.New(fault.Malformed, "malformed_request", "Select at most %d players.", web.SelectedPlayers)
	}
	players, err := p.PlayersByID(ctx, by, ids)
	if err != nil {
		return web.Response{}, err
	}
	approval.SortByName(players)
	codes, rest := openCodes(players, codesPerSheet)
	next := ""
	if len(rest) > 0 {
		left := make([]string, len(rest))
		for i, player := range rest {
			left[i] = player.ID
		}
		next = "/coach/players/sheet?" + url.Values{"player": left}.Encode()
	}
	return p.codesPage(ctx, r, by, codes, map[string]any{"Next": next, "Selected": len(ids)})
}

// batchSheet is sheet for the players of a batch, in alphabetical order.
func (p pages) batchSheet(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.Value("batch")
	if !endpoint.IsID(id) {
		return web.Response{}, fault.Missing()
	}
	b, err := store.BatchOf(ctx, p.DB, by.AccountID, id)
	if err != nil {
		return web.Response{}, err
	}
	var codes []openCode
	after, more := web.IDOrNone(r.Value("after")), true
	for more && len(codes) < codesPerSheet {
		players, err := p.PlayersByName(ctx, by, approval.Filter{BatchID: id}, approval.NamePage{Limit: web.PlayersPerPage, After: after})
		if err != nil {
			return web.Response{}, err
		}
		found, rest := openCodes(players, codesPerSheet-len(codes))
		codes = append(codes, found...)
		more = len(rest) > 0 || len(players) == web.PlayersPerPage
		if done := players[:len(players)-len(rest)]; len(done) > 0 {
			after = done[len(done)-1].ID
		}
		if len(rest) > 0 {
			break
		}
	}
	next := ""
	if more {
		next = "/coach/players/sheet?" + url.Values{"batch": {id}, "after": {after}}.Encode()
	}
	return p.codesPage(ctx, r, by, codes, map[string]any{"Next": next, "Selected": b.PlayerCount, "Batch": b})
}

// openCode is a party that can answer with a short code.
type openCode struct {
	player *approval.Player
	party  *approval.Party
}

// openCodes returns the codes of the first players, at most most, and the other players. The
// codes of a player stay together.
func openCodes(players []*approval.Player, most int) (codes []openCode, rest []*approval.Player) {
	for i, player := range players {
		var open []openCode
		for j := range player.Parties {
			if party := &player.Parties[j]; hasCode(party) {
				open = append(open, openCode{player, party})
			}
		}
		if len(codes)+len(open) > most {
			return codes, players[i:]
		}
		codes = append(codes, open...)
	}
	return codes, nil
}

// codesPage shows codes to print.
func (p pages) codesPage(ctx context.Context, r *web.Request, by actor.Actor, open []openCode, data map[string]any) (web.Response, error) {
	v := p.site.CoachView(r, "players", "sheet.title", by)
	codes := make([]codeView, len(open))
	for i, o := range open {
		code, err := p.newCode(v, o.player, o.party)
		if err != nil {
			return web.Response{}, err
		}
		codes[i] = code
	}
	data["Codes"] = codes
	v.Data = data
	return web.Page("sheet", v), nil
}
