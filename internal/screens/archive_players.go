package screens

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/team"
)

// moment returns a time as a cell; the zero time is empty.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return wire.Timestamp(t)
}

func (a archive) profile(ctx context.Context, by actor.Actor, row func(...string) error) error {
	p, err := a.Profiles.Profile(ctx, by)
	if err != nil {
		return err
	}
	years := ""
	if p.Experience != nil {
		years = strconv.Itoa(*p.Experience)
	}
	return row(p.ID, string(p.Number), p.Name, p.Email, p.Bio, years, strings.Join(p.Sports, "; "), p.TimeZone, p.UPIID, moment(p.CreatedAt))
}

func (a archive) allDocuments(ctx context.Context, by actor.Actor, row func(...string) error) error {
	for before := ""; ; {
		list, err := a.Documents.List(ctx, by, "", before, archivePage)
		if err != nil {
			return err
		}
		for _, d := range list {
			err := row(d.ID, string(d.Kind), d.Title, d.Issuer, string(d.IssuedOn), string(d.ExpiresOn), d.File.Name, strconv.FormatInt(d.File.Size, 10), moment(d.CreatedAt))
			if err != nil {
				return err
			}
			before = d.ID
		}
		if len(list) < archivePage {
			return nil
		}
	}
}

func (a archive) players(ctx context.Context, by actor.Actor, row func(...string) error) error {
	own, err := a.Profiles.Profile(ctx, by)
	if err != nil {
		return err
	}
	zone := team.Zone(cmp.Or(own.TimeZone, a.Profiles.DefaultTimeZone))
	var some []*approval.Player
	write := func() error {
		var ids []string
		for _, p := range some {
			if p.Student.HasMedical {
				ids = append(ids, p.ID)
			}
		}
		medical, err := a.Approvals.ExportMedical(ctx, by, ids)
		for i := 0; i < len(some) && err == nil; i++ {
			p := some[i]
			err = row(slices.Concat([]string{p.ID}, roster.ExportCells(p), []string{medical[p.ID], string(team.DateOf(p.CreatedAt, zone))})...)
		}
		some = some[:0]
		return err
	}
	err = a.Approvals.EachPlayer(ctx, by, approval.Filter{}, func(p *approval.Player) error {
		if some = append(some, p); len(some) < archivePage {
			return nil
		}
		return write()
	})
	if err != nil {
		return err
	}
	return write()
}

// someOf calls fn with the players of the calling coach, some at a time.
func (a archive) someOf(ctx context.Context, by actor.Actor, fn func(ids []string, names map[string]string) error) error {
	var ids []string
	names := map[string]string{}
	some := func() error {
		if len(ids) == 0 {
			return nil
		}
		err := fn(ids, names)
		ids, names = nil, map[string]string{}
		return err
	}
	err := a.Approvals.EachPlayer(ctx, by, approval.Filter{}, func(p *approval.Player) error {
		ids = append(ids, p.ID)
		names[p.ID] = p.Student.FullName
		if len(ids) < archivePage {
			return nil
		}
		return some()
	})
	return cmp.Or(err, some())
}

func (a archive) requests(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return a.someOf(ctx, by, func(ids []string, names map[string]string) error {
		list, err := player.RequestsAbout(ctx, a.DB, by.AccountID, ids)
		if err != nil {
			return err
		}
		slices.SortFunc(list, func(x, y approval.Request) int {
			return cmp.Or(cmp.Compare(y.PlayerID, x.PlayerID), cmp.Compare(x.ID, y.ID))
		})
		for _, r := range list {
			if err := row(r.ID, r.PlayerID, names[r.PlayerID], string(r.Party), string(r.State), moment(r.RequestedAt), moment(r.LastSentAt), moment(r.ClosedAt)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a archive) decisions(ctx context.Context, by actor.Actor, row func(...string) error) error {
	return a.someOf(ctx, by, func(ids []string, names map[string]string) error {
		list, err := player.DecisionsAbout(ctx, a.DB, by.AccountID, ids)
		if err != nil {
			return err
		}
		slices.SortFunc(list, func(x, y approval.Record) int {
			return cmp.Or(cmp.Compare(y.PlayerID, x.PlayerID), x.At.Compare(y.At), cmp.Compare(x.ID, y.ID))
		})
		for _, r := range list {
			if err := row(r.ID, r.PlayerID, names[r.PlayerID], string(r.Party), string(r.Action), r.Reason, moment(r.At)); err != nil {
				return err
			}
		}
		return nil
	})
}
