package player

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/database"
)

// loadCallFacts loads the facts of each party with an open request that is old enough for a call.
func (s *Service) loadCallFacts(ctx context.Context, q database.Querier, p *approval.Player, now time.Time) error {
	for i := range p.Parties {
		a := &p.Parties[i]
		if r := a.OpenRequest(); s.Rules.Call == nil || r == nil || r.RequestedAt.Add(approval.CallAfter).After(now) {
			continue
		}
		identity := p.Identity()
		f := &a.CallFacts
		*f = approval.CallFacts{To: message.Recipient{Number: a.Number}}
		err := q.QueryRow(ctx, `
			SELECT EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = a.mobile_number AND st.coach_id = $2), c.time_zone, o.mobile_number,
				(SELECT max(d.created_at) FROM requests r JOIN deliveries d ON d.request_id = r.id
					WHERE r.approver_id = a.id AND r.coach_id = $2 AND (r.player_id = $3 OR r.student_key = $4 AND r.date_of_birth = $5)
						AND d.channel = 'voice' AND (d.state <> 'failed' OR d.left_at IS NOT NULL) AND d.created_at > $6), `+outbox.PreferenceColumns+`
			FROM accounts a
			LEFT JOIN accounts o ON o.id = $2
			LEFT JOIN coaches c ON c.id = $2
			LEFT JOIN preferences ON preferences.mobile_number = a.mobile_number
			WHERE a.id = $1`,
			a.AccountID, p.CoachID, p.ID, identity.NameKey, identity.DateOfBirth.String(), database.Micros(now.Add(-approval.CallEvery))).
			Scan(append([]any{&f.To.Stopped, database.IntoText(&f.To.CoachZone), database.IntoText((*string)(&f.To.CoachNumber)), database.IntoTime(&f.Last)},
				outbox.PreferenceDest(&f.To.Preferences)...)...)
		if err != nil {
			return fmt.Errorf("read what a call to the %s depends on: %w", a.Role, err)
		}
	}
	return nil
}
