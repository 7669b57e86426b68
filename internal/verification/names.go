package verification

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// NameCheck is a coach whose name or picture waits for an operator: a name that has not taken effect, or, of a verified
// coach, another name or picture than the confirmed ones.
type NameCheck struct {
	CoachID string
	Name    string
	// Pending takes effect at TakesEffectAt; "" is none.
	Pending       string
	TakesEffectAt time.Time
	// ConfirmedName is the name that an operator confirmed last, or "".
	ConfirmedName string
	At            time.Time
	// LegalName is the verified legal name, or "". Only ReadName sets it and what follows.
	LegalName string
	// Unmarked says why a verified coach has no mark.
	Unmarked []string
	// Picture is the picture of the profile, and ConfirmedPicture the one that an operator confirmed, if it still
	// exists and is another one.
	Picture, ConfirmedPicture *coach.Document
}

// NewName is the name that an operator confirms or refuses.
func (n NameCheck) NewName() string {
	return cmp.Or(n.Pending, n.Name)
}

// Names returns the coaches whose names or pictures wait for an operator, oldest first, and audits the access.
func (s *Service) Names(ctx context.Context, by actor.Operator, after Cursor, limit int) (found []NameCheck, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		rs, err := tx.Query(ctx, `
			SELECT id, name, name_pending, name_takes_effect_at, confirmed_name, name_check_at FROM coaches
			WHERE name_check_at IS NOT NULL AND (name_check_at, id) > ($1, $2)
			ORDER BY name_check_at, id LIMIT $3`, after.At.UnixMicro(), after.ID, limit)
		found, err = database.Collect(rs, err, func(r database.Scanner) (n NameCheck, err error) {
			err = r.Scan(&n.CoachID, database.IntoText(&n.Name), database.IntoText(&n.Pending), database.IntoTime(&n.TakesEffectAt), database.IntoText(&n.ConfirmedName), database.IntoTime(&n.At))
			return n, err
		})
		if err != nil {
			return fmt.Errorf("list names: %w", err)
		}
		return tx.Record(ctx, by, operator.NamesListed, "queue", "", "")
	})
	return found, err
}

// ReadName returns what an operator compares: both names, the legal name and both pictures. It audits the access.
func (s *Service) ReadName(ctx context.Context, by actor.Operator, coachID string) (n NameCheck, err error) {
	if err := (coach.Store{DB: s.DB}).CheckCoach(ctx, coachID); err != nil {
		return n, err
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		p, err := coach.ReadProfile(ctx, tx, coachID)
		if err != nil {
			return err
		}
		n = NameCheck{CoachID: coachID, Name: p.Name, Pending: p.NamePending, TakesEffectAt: p.NameTakesEffectAt, ConfirmedName: p.ConfirmedName, Picture: p.Picture()}
		if p.KYC == coach.Verified {
			n.Unmarked = p.Unmarked()
			if n.LegalName, err = coach.LegalName(ctx, tx, coachID); err != nil {
				return err
			}
		}
		for _, d := range p.Documents {
			if d.Kind == coach.ProfilePicture && p.ConfirmedPicture != "" && d.File.SHA256 == p.ConfirmedPicture && !d.InProfile {
				n.ConfirmedPicture = &d
			}
		}
		return tx.Record(ctx, by, operator.NameRead, "coach", coachID, "")
	})
	return n, err
}

// OpenPicture returns a profile picture of a coach.
func (s *Service) OpenPicture(ctx context.Context, by actor.Operator, coachID, id string) (*document.Content, error) {
	d, err := s.Documents.Read(ctx, coachID, id)
	if err == nil && d.Kind != coach.ProfilePicture {
		err = fault.Missing()
	}
	if err != nil {
		return nil, err
	}
	if err := s.DB.Operators.Record(ctx, by, operator.DocumentRead, "document", id, "of coach "+coachID); err != nil {
		return nil, err
	}
	return s.Documents.OpenFile(ctx, id)
}

// SeenName is the name and the picture that an operator has seen. Picture is the SHA-256 of its bytes, because a coach can replace the file of a
// document; it is "" if the profile has no picture.
type SeenName struct{ Name, Picture string }

// ConfirmName gives a coach the name that waits, and a verified coach the mark with this name and picture. It returns
// request_superseded if the coach has another name or picture by now.
func (s *Service) ConfirmName(ctx context.Context, by actor.Operator, coachID string, seen SeenName) error {
	return s.decideName(ctx, by, coachID, operator.NameConfirmed, event.Event{Type: event.NameConfirmed, CoachID: coachID}, func(p *coach.Profile) error {
		picture := p.Picture()
		switch {
		case p.NamePending == "" && (p.KYC != coach.Verified || len(p.Unmarked()) == 0):
			return errNoName
		case seen.Name != cmp.Or(p.NamePending, p.Name), picture == nil && seen.Picture != "", picture != nil && seen.Picture != picture.File.SHA256:
			return errOtherName
		}
		if p.NamePending != "" {
			p.TakeName(s.Now())
		}
		if p.KYC == coach.Verified {
			p.ConfirmedName, p.ConfirmedPicture = p.Name, ""
			if picture != nil {
				p.ConfirmedPicture = picture.File.SHA256
			}
		}
		return nil
	})
}

// RefuseName ends a name that waits. The coach reads the reason.
func (s *Service) RefuseName(ctx context.Context, by actor.Operator, coachID, name, reason string) error {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > maxReason || !utf8.ValidString(reason) || strings.ContainsRune(reason, 0) {
		return fault.Validation([]fault.Field{{
			Pointer: "/reason", Code: "invalid_value", Detail: fmt.Sprintf("Give a reason of 1 to %d characters. The coach reads it.", maxReason),
		}})
	}
	return s.decideName(ctx, by, coachID, operator.NameRefused, event.Event{Type: event.NameRefused, CoachID: coachID, Title: name, Reason: reason}, func(p *coach.Profile) error {
		switch p.NamePending {
		case "":
			return errNoName
		case name:
			p.NamePending, p.NameTakesEffectAt = "", time.Time{}
			return nil
		}
		return errOtherName
	})
}

var (
	errNoName    = fault.New(fault.Conflict, "invalid_transition", "No name and no picture of this coach waits for you.").With("allowed", []string{})
	errOtherName = fault.New(fault.Conflict, "request_superseded", "The coach has another name or picture by now. Read it and decide about it.")
)

func (s *Service) decideName(ctx context.Context, by actor.Operator, coachID, action string, e event.Event, fn func(*coach.Profile) error) error {
	if err := (coach.Store{DB: s.DB}).CheckCoach(ctx, coachID); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		err := coach.UpdateProfile(ctx, tx, coachID, func(p coach.Profile) (coach.Profile, error) {
			p.FormerNames = slices.Clone(p.FormerNames)
			err := fn(&p)
			return p, err
		})
		if err != nil {
			return err
		}
		if err := tx.Record(ctx, by, action, "coach", coachID, ""); err != nil {
			return err
		}
		return notice.Notify(ctx, tx, []event.Event{e})
	})
}
