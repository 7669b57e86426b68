package auth

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Incoming is a channel on which people write to the service for a code.
type Incoming string

// The channels, as the API names them.
const (
	WhatsAppIncoming Incoming = "whatsapp_inbound"
	SMSIncoming      Incoming = "sms_inbound"
)

// AskNumber returns the number to which people write for a code, or "" if the service receives nothing on the channel.
func (s Settings) AskNumber(in Incoming) string {
	if in == SMSIncoming {
		return s.SMSNumber
	}
	return string(s.WhatsAppNumber)
}

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
	open, live, found, err := s.openChallenge(ctx, n, writtenBy)
	if err != nil || !found {
		return OpenCode{}, false, err
	}
	digits, err := s.Code(live.ID, live.Code)
	return OpenCode{Code: digits, AskedWith: open.AskedWith, AskedAt: open.askedAt, Language: live.Language}, err == nil, err
}

// SendOpenCode sends by SMS the code that was asked for last for a number, as RequestOTP does and within its limits. found is false
// without an open challenge. The number is its network: the SMS of the person came from no address.
func (s *Service) SendOpenCode(ctx context.Context, n phone.Number, writtenBy time.Time) (found bool, err error) {
	open, _, found, err := s.openChallenge(ctx, n, writtenBy)
	if err != nil || !found {
		return false, err
	}
	_, err = s.RequestOTP(ctx, OTPRequest{Number: n, Role: open.Role, Network: "sms/" + string(n), AskedWith: open.AskedWith})
	if kind := fault.KindOf(err); kind == fault.TooMany || kind == fault.Forbidden {
		err = nil // the page says when the next one can leave
	}
	return true, err
}

// openChallenge returns the challenge of OpenCode, and live with its code.
func (s *Service) openChallenge(ctx context.Context, n phone.Number, writtenBy time.Time) (open askedChallenge, live Challenge, found bool, err error) {
	all, err := s.Store.openChallenges(ctx, n, s.Settings.OTPTries)
	if err != nil {
		return open, live, false, err
	}
	for _, c := range all {
		_, confirms := NumberToConfirm(c.DeviceID)
		if confirms || c.ByEmail() || !writtenBy.IsZero() && c.askedAt.After(writtenBy) {
			continue
		}
		live, _, found, err := s.Store.LiveChallenge(ctx, message.Delivery{To: string(n), Role: c.Role, DeviceID: c.DeviceID, ChallengeID: c.ID}, s.Settings.OTPTries)
		if err != nil || found {
			return c, live, found, err
		}
	}
	return open, live, false, nil
}

// askedChallenge is a challenge with the time of the last request.
type askedChallenge struct {
	Challenge
	askedAt time.Time
}

// openChallenges lists the challenges of a number whose codes have not expired, the one that was asked for last first.
func (db Store) openChallenges(ctx context.Context, n phone.Number, maxAttempts int) ([]askedChallenge, error) {
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

// AskURL returns the link that opens the person's app with a text to the service.
func (s Settings) AskURL(in Incoming, escapedText string) string {
	if in == SMSIncoming {
		return "sms:" + s.SMSNumber + "?body=" + escapedText // RFC 5724
	}
	return "https://wa.me/" + strings.TrimPrefix(string(s.WhatsAppNumber), "+") + "?text=" + escapedText
}
