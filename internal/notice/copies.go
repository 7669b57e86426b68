package notice

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/telemetry"
	"github.com/touchline/touchline/internal/store"
)

// queueCopies queues the copies of notifications that leave the app. ids and accounts
// belong to the drafts. It returns whom the notifications and their copies tell.
func queueCopies(ctx context.Context, tx *store.Tx, drafts []message.Draft, ids []string, accounts map[string]*trayAccount) (Told, error) {
	var values []any
	told := Told{}
	queued := 0
	for i, d := range drafts {
		account := accounts[d.AccountID]
		to := message.Addresses{Number: account.number, Email: d.MailTo(account.confirmed, account.email)}
		addresses := map[message.Channel]string{}
		for _, channel := range d.Channels {
			if route := tx.DB().Settings().Destination(channel, to); route.State == message.QueuedState {
				addresses[channel] = route.Address
			}
		}
		told.add(d.AccountID, message.InApp, "")
		for _, c := range d.Copies(account.preferences, addresses, account.pushTo) {
			values = append(values, tx.DB().NewID(), ids[i], string(message.NotificationCopy), string(c.Channel), "queued",
				d.AccountID, c.Address, string(d.To), database.Text(d.CountedFor()),
				0, database.Micros(tx.Now), database.Micros(tx.Now.Add(message.MessageLifetime)), database.Micros(tx.Now), database.Micros(tx.Now), database.Text(telemetry.Parent(ctx)))
			queued++
			if c.Channel != message.Push {
				told.add(d.AccountID, c.Channel, c.Address)
			}
			tx.DB().Outbox.Wake(tx.Tx, message.Lane{Channel: c.Channel, Kind: message.NotificationCopy})
		}
	}
	if queued == 0 {
		return told, nil
	}
	err := tx.Defer(ctx, `
		INSERT INTO deliveries (id, notification_id, kind, channel, state, account_id, recipient, role, coach_id,
			attempts, due_at, gives_up_at, created_at, updated_at, trace_parent)
		VALUES `+database.RowsOf(queued, 15), values...)
	return told, fault.Wrap(err, "queue copies of notifications")
}

// NotificationCopy returns the notification of a delivery and its recipient, or false if it
// was deleted. The address of a coach is in the profile, a guardian's is in the
// player, and a guardian or student can have confirmed one. The address of a PlayerRemoved counts as current: the notification names no player,
// and the record of a removed player never changes.
func (t *Tray) NotificationCopy(ctx context.Context, d message.Delivery) (message.Copy, message.Recipient, bool, error) {
	var c message.Copy
	var to message.Recipient
	var registered, linked, disputed, current bool // current: the address is still that of the recipient
	err := t.DB.QueryRow(ctx, `
		SELECT n.account_id, n.type, n.title, n.body, n.data, a.mobile_number,
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = a.mobile_number AND st.coach_id = $2),
			EXISTS (SELECT 1 FROM stopped_addresses sa WHERE sa.address = $3),
			(SELECT 1 FROM coaches c WHERE c.id = n.account_id AND c.email = $4 LIMIT 1) IS NOT NULL
				OR (SELECT 1 FROM parties p WHERE p.player_id = n.player_id AND p.account_id = n.account_id AND p.email = $4 LIMIT 1) IS NOT NULL
				OR n.type = $5,
			(SELECT 1 FROM confirmed_addresses ca WHERE ca.mobile_number = a.mobile_number AND ca.role = a.role AND ca.address = $4 LIMIT 1) IS NOT NULL,
			`+store.AccountRoles+`, `+outbox.PreferenceColumns+`
		FROM notifications n LEFT JOIN accounts a ON a.id = n.account_id
		LEFT JOIN preferences ON preferences.mobile_number = a.mobile_number
		WHERE n.id = $1`, d.NotificationID, d.CoachID, message.FoldAddress(d.To), d.To, string(message.PlayerRemoved)).
		Scan(append([]any{
			&c.AccountID, &c.Type, &c.Title, &c.Text, database.IntoJSON(&c.Data), database.IntoText((*string)(&to.Number)), &to.Stopped, &to.AddressStopped, &current, &c.Confirmed, &registered, &linked, &disputed,
		}, outbox.PreferenceDest(&to.Preferences)...)...)
	if database.IsNoRows(err) {
		return c, to, false, nil
	}
	c.Readable, c.ToCoach = registered || linked || disputed, d.Role == actor.Coach
	to.AddressChanged = d.Channel == message.Email && !current && !c.Confirmed
	return c, to, err == nil, err
}
