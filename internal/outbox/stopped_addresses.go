package outbox

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// StopAddress ends mail to an address. It may be repeated.
func (st *Store) StopAddress(ctx context.Context, address string) error {
	err := st.DB.Write(ctx, func(tx *database.Tx) error { return StopAddress(ctx, tx, address) })
	return fault.Wrap(err, "stop an address")
}

func StopAddress(ctx context.Context, tx *database.Tx, address string) error {
	return tx.Defer(ctx, `
		INSERT INTO stopped_addresses (address, stopped_at) VALUES ($1, $2)
		ON CONFLICT (address) DO NOTHING`, message.FoldAddress(address), database.Micros(tx.Now))
}

// StoppedAmong returns which of the addresses get no mail, sorted.
func StoppedAmong(ctx context.Context, q database.Querier, addresses []string) ([]string, error) {
	args := make([]any, len(addresses))
	for i, address := range addresses {
		args[i] = message.FoldAddress(address)
	}
	rs, err := q.Query(ctx, `SELECT address FROM stopped_addresses WHERE address IN (`+database.Params(1, len(args))+`) ORDER BY address`, args...)
	return database.CollectTexts(rs, err)
}

// AddressStopped reports whether an address gets no mail.
func (st *Store) AddressStopped(ctx context.Context, address string) (stopped bool, err error) {
	err = st.DB.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM stopped_addresses WHERE address = $1)`, message.FoldAddress(address)).Scan(&stopped)
	return stopped, fault.Wrap(err, "read a stopped address")
}

// AllowAddress ends StopAddress. It may be repeated.
func (st *Store) AllowAddress(ctx context.Context, address string) error {
	_, err := st.DB.Exec(ctx, `DELETE FROM stopped_addresses WHERE address = $1`, message.FoldAddress(address))
	return fault.Wrap(err, "allow an address")
}

// AllowAddressForOperator is AllowAddress with an audit entry. It returns not_found if mail to the
// address was not stopped.
func (st *Store) AllowAddressForOperator(ctx context.Context, by actor.Operator, address, reason string) error {
	err := st.DB.Write(ctx, func(tx *database.Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM stopped_addresses WHERE address = $1`, message.FoldAddress(address))
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Missing()
		}
		return operator.AddEntry(ctx, tx, st.NewID(), by, operator.MailAllowed, "address", "", reason)
	})
	return fault.Wrap(err, "allow an address for an operator")
}
