package web

import (
	"context"
	"html/template"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/qr"
)

// codeView is the QR code of an open request, for a screen or for paper.
type codeView struct {
	Student   string
	Party     actor.Role
	ShortCode string
	// Image is the code as SVG. It leads to Address with the short code, which needs the
	// number too. It never holds a token.
	Image   template.HTML
	Address string
}

// codesPerSheet is the number of codes of a page: two columns on A4. A code takes about
// 1 ms and 4 KB.
const codesPerSheet = 8

func (p *Pages) newCode(v *View, player *approval.Player, party actor.Role) (codeView, error) {
	short := player.Approver(party).OpenRequest().ShortCode
	image, err := qr.SVG(qr.AnswerURL(p.PublicURL, short), v.mustT("code.label", "Code", short))
	return codeView{player.Student.FullName, party, short, image, p.PublicURL + "/a"}, err
}

// hasCode reports whether a party can answer with a short code.
func hasCode(player *approval.Player, party actor.Role) bool {
	open := player.Approver(party).OpenRequest()
	return open != nil && open.ShortCode != ""
}

// qrPage serves GET /coach/players/{player_id}/qr?party=…: the code to show at the ground.
func (p *Pages) qrPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("player_id")
	if err != nil {
		return Response{}, err
	}
	party, err := r.party()
	if err != nil {
		return Response{}, err
	}
	player, err := p.Approvals.Player(ctx, by, id)
	if err != nil {
		return Response{}, err
	}
	if !hasCode(player, party) {
		return redirect(coachPlayer(id)), nil // answered or taken back since the page was drawn
	}
	v, err := p.coachView(ctx, r, "players", "code.show.title", by)
	if err != nil {
		return Response{}, err
	}
	code, err := p.newCode(v, player, party)
	if err != nil {
		return Response{}, err
	}
	v.Data = map[string]any{"Code": code, "Player": player}
	return page("code_show", v), nil
}

// sheet serves GET /coach/players/sheet?player=…&player=…: a page to print with the codes
// of the selected players.
func (p *Pages) sheet(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	ids := slices.DeleteFunc(slices.Clone(r.Form["player"]), func(id string) bool { return !endpoint.IsID(id) })
	v, err := p.coachView(ctx, r, "players", "sheet.title", by)
	if err != nil {
		return Response{}, err
	}
	if len(ids) > playersPerPage {
		return Response{}, fault.New(fault.Malformed, "malformed_request", "Select at most %d players.", playersPerPage)
	}
	players, err := p.Approvals.PlayersByID(ctx, by, ids)
	if err != nil {
		return Response{}, err
	}
	var codes []codeView
	var rest []string
	for _, player := range players {
		parties := slices.DeleteFunc(slices.Clone(approval.Parties), func(party actor.Role) bool { return !hasCode(player, party) })
		if len(rest) > 0 || len(codes)+len(parties) > codesPerSheet {
			rest = append(rest, player.ID)
			continue
		}
		for _, party := range parties {
			code, err := p.newCode(v, player, party)
			if err != nil {
				return Response{}, err
			}
			codes = append(codes, code)
		}
	}
	next := ""
	if len(rest) > 0 {
		next = "/coach/players/sheet?" + url.Values{"player": rest}.Encode()
	}
	v.Data = map[string]any{"Codes": codes, "Next": next, "Selected": len(ids)}
	return page("sheet", v), nil
}
