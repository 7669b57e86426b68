package auth

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
)

// OpenCode is the code of an open challenge, for the answer to a message of the person.
type OpenCode struct {
	Code string
	// AskedWith is the browser and device that asked last, or empty, and AskedAt is when.
	AskedWith string
	AskedAt   time.Time
	Language  string
}

// OpenCode returns the code that was asked for last for a number, if it can be used and the number may sign in
// with it. A code that was asked for after writtenBy is not returned: the person wrote about another one. A
// zero writtenBy is now.
func (s *Service) OpenCode(ctx context.Context, n phone.Number, writtenBy time.Time) (code OpenCode, found bool, err error) {
	open, err := s.Store.openChallenges(ctx, n, s.Settings.OTPTries)
	if err != nil {
		return OpenCode{}, false, err
	}
	for _, c := range open {
		_, confirms := NumberToConfirm(c.DeviceID)
		if confirms || c.ByEmail() || !writtenBy.IsZero() && c.askedAt.After(writtenBy) {
			continue
		}
		live, _, ok, err := s.Store.LiveChallenge(ctx, message.Delivery{To: string(n), Role: c.Role, DeviceID: c.DeviceID, ChallengeID: c.ID}, s.Settings.OTPTries)
		if err != nil {
			return OpenCode{}, false, err
		}
		if !ok {
			continue
		}
		digits, err := s.Code(live.ID, live.Code)
		return OpenCode{Code: digits, AskedWith: c.AskedWith, AskedAt: c.askedAt, Language: live.Language}, err == nil, err
	}
	return OpenCode{}, false, nil
}

// askedChallenge is a challenge with the time of the last request.
type askedChallenge struct {
	Challenge
	askedAt time.Time
}

// openChallenges lists the challenges of a number whose codes have not expired, the one that was asked for last first.
func (db SQL) openChallenges(ctx context.Context, n phone.Number, maxAttempts int) ([]askedChallenge, error) {
	rs, err := db.DB.Query(ctx, `
		SELECT role, device_id, id, asked_with, asked_at FROM otp_challenges
		WHERE mobile_number = $1 AND used_at IS NULL AND ends_at > $2 AND attempts < $3`,
		string(n), database.Micros(db.DB.Now()), maxAttempts)
	all, err := database.Collect(rs, err, func(row database.Scanner) (c askedChallenge, err error) {
		return c, row.Scan(&c.Role, &c.DeviceID, &c.ID, &c.AskedWith, database.IntoTime(&c.askedAt))
	})
	if err != nil {
		return nil, fmt.Errorf("list the open challenges of a number: %w", err)
	}
	slices.SortFunc(all, func(a, b askedChallenge) int { return b.askedAt.Compare(a.askedAt) })
	return all, nil
}

// AskURL returns the link that opens the person's WhatsApp with a text to the service.
func AskURL(service phone.Number, escapedText string) string {
	return "https://wa.me/" + strings.TrimPrefix(string(service), "+") + "?text=" + escapedText
}
