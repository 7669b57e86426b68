package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
)

const (
	// UsersKept is how long the number of a user id is kept after WhatsApp named it last.
	UsersKept = 400 * 24 * time.Hour
	// userNoted is how old seen_at may be before it is saved again: each message has several reports.
	userNoted = 24 * time.Hour
)

// PlaceReply implements message.ReplyStore. A reply without a number is of the person to whom WhatsApp delivered a
// message under the same user id. Without such a report it is of the recipient of the quoted message and of the message
// with the button: only the person who has it in a chat with the service can quote or press it. If both are there and
// differ, the person is not known.
func (st *Store) PlaceReply(ctx context.Context, r message.Reply) (phone.Number, error) {
	var known, quoted, pressed string
	for _, find := range []struct {
		query, value string
		into         *string
	}{
		{`SELECT mobile_number FROM chat_users WHERE user_id = $1`, r.UserID, &known},
		{`SELECT recipient FROM deliveries WHERE provider_id = $1`, r.Context, &quoted},
		{`SELECT recipient FROM deliveries WHERE id = $1`, r.DeliveryOfButton(), &pressed},
	} {
		if find.value == "" || r.From != "" && find.into != &known {
			continue
		}
		if err := st.DB.QueryRow(ctx, find.query, find.value).Scan(database.IntoText(find.into)); err != nil && !database.IsNoRows(err) {
			return "", fmt.Errorf("find the number of a reply: %w", err)
		}
	}
	var n string
	switch {
	case r.From != "":
		n = string(r.From)
	case known != "":
		n = known
	case quoted != "" && pressed != "" && quoted != pressed:
		return "", nil
	case quoted != "":
		n = quoted
	default:
		return phone.Number(pressed), nil // says who answers this question, not who writes later
	}
	if r.UserID == "" || known == n {
		return phone.Number(n), nil
	}
	return phone.Number(n), st.DB.Write(ctx, func(tx *database.Tx) error { return saveUser(ctx, tx, r.UserID, n) })
}

// noteUser keeps the user id to which WhatsApp says that a message went.
func noteUser(ctx context.Context, tx *database.Tx, userID, deliveryID string) error {
	var n string
	err := tx.QueryRow(ctx, `
		SELECT d.recipient FROM deliveries d
		WHERE d.id = $1 AND NOT EXISTS (
			SELECT 1 FROM chat_users u WHERE u.user_id = $2 AND u.mobile_number = d.recipient AND u.seen_at > $3)`,
		deliveryID, userID, database.Micros(tx.Now.Add(-userNoted))).Scan(&n)
	if database.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the recipient of delivery %s: %w", deliveryID, err)
	}
	return saveUser(ctx, tx, userID, n)
}

// saveUser saves the one user id of a number, if the number has an account.
func saveUser(ctx context.Context, tx *database.Tx, userID, n string) error {
	if err := tx.Defer(ctx, `DELETE FROM chat_users WHERE mobile_number = $1 AND user_id <> $2`, n, userID); err != nil {
		return err
	}
	return tx.Defer(ctx, `
		INSERT INTO chat_users (user_id, mobile_number, seen_at)
		SELECT $1, $2, $3 WHERE EXISTS (SELECT 1 FROM accounts WHERE mobile_number = $2)
		ON CONFLICT (user_id) DO UPDATE SET mobile_number = excluded.mobile_number, seen_at = excluded.seen_at`,
		userID, n, database.Micros(tx.Now))
}
