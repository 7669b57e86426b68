package privacy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/web"
)

// maxLeaveAttempts is how often coaches may add a player of an account while it is deleted.
const maxLeaveAttempts = 5

// Leave deletes the account of the calling guardian or student, and unlinks it from its players one after the other. If it stops
// on the way, the account still exists and the next call continues.
func (s *Service) Leave(ctx context.Context, by actor.Actor) error {
	return s.leave(ctx, by, "", "", nil)
}

// leave is Leave for a person who read text in language. also runs in the transaction that erases the account.
func (s *Service) leave(ctx context.Context, by actor.Actor, language, text string, also Also) error {
	for range maxLeaveAttempts {
		rs, err := s.DB.Query(ctx, `SELECT player_id FROM parties WHERE account_id = $1 AND deleted_at IS NULL ORDER BY player_id`, by.AccountID)
		ids, err := database.CollectTexts(rs, err)
		if err != nil {
			return fmt.Errorf("find the players of an account: %w", err)
		}
		for _, id := range ids {
			if err := s.LeavePlayer(ctx, by, id, language, text); err != nil {
				return fmt.Errorf("leave player %s: %w", id, err)
			}
		}
		err = s.DB.Write(ctx, func(tx *store.Tx) error {
			if err := deleteAccount(ctx, tx, by.AccountID); err != nil {
				return err
			}
			return also.Run(ctx, tx)
		})
		if !errors.Is(err, errInUse) {
			return err
		}
	}
	return fault.New(fault.Unavailable, "unavailable", "A coach is adding you at the moment. Try again in a few seconds.")
}

// deleteAccount erases an account that no live player names. Removed players name it until they are erased.
func deleteAccount(ctx context.Context, tx *store.Tx, account string) error {
	if err := releaseNumber(ctx, tx, account, ""); err != nil {
		return err
	}
	for _, query := range accountErasures {
		for n := int64(eraseBatch); n == eraseBatch; {
			var err error
			if n, err = tx.Exec(ctx, query, account, eraseBatch); err != nil {
				return err
			}
		}
	}
	return nil
}

func deletePath(role actor.Role) string { return web.Home(role) + "/delete" }

// deleteTexts are the texts of the page that say what ends and what stays.
var deleteTexts = []string{"lead", "ends", "answers", "number", "sessions", "stays", "child", "proof", "disputes", "other"}

const deletedPath = "/account-deleted"

// deletePage serves GET /me/{role}/delete: what ends and what stays.
func (p pages) deletePage(_ context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	v := p.site.SignedInView(r, "delete.title", by)
	v.Data = map[string]any{
		"Home": web.Home(by.Role), "Fresh": p.site.HasRecentOTP(r, by.Role), "SignIn": signInFor(by.Role, deletePath(by.Role)),
	}
	return web.Page("delete_account", v), nil
}

// deleteAccount serves POST /me/{role}/delete.
func (p pages) deleteAccount(role actor.Role) web.Handler {
	signedIn := p.site.SignedIn(role, func(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
		if !p.site.HasRecentOTP(r, role) {
			return web.Response{}, web.SignInError{Role: role, Next: deletePath(role)}
		}
		v := p.site.SignedInView(r, "delete.title", by)
		var text []string
		for _, name := range deleteTexts {
			text = append(text, v.MustT("delete."+name))
		}
		if err := p.leave(ctx, by, r.Language, strings.Join(text, " "), nil); err != nil {
			return web.Response{}, err
		}
		p.Streams.Hub.Wake(by.AccountID)
		remove := p.site.Cookies.Remove
		return web.Redirect(deletedPath, remove(web.SessionCookie(role)), remove(web.DeviceCookie(role)), p.site.DropDraft()), nil
	})
	return func(ctx context.Context, r *web.Request) (web.Response, error) {
		if _, ok := r.Actor(role); !ok { // the second of two equal forms
			return web.Redirect(deletedPath + "?signed-out"), nil
		}
		return signedIn(ctx, r)
	}
}

// deletedPage serves GET /account-deleted.
func (p pages) deletedPage(_ context.Context, r *web.Request) (web.Response, error) {
	v := p.site.NewView(r, "delete.title")
	v.Data = map[string]any{"SignedOut": r.URL.Query().Has("signed-out")}
	return web.Page("account_deleted", v), nil
}
