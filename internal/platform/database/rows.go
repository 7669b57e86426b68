package database

import "database/sql"

// Collect reads all rows with scan and closes them. rs and err are the result of Query.
// Without rows it returns an empty slice, not nil.
func Collect[T any](rs *Rows, err error, scan func(Scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rs.Close()
	all := []T{}
	for rs.Next() {
		one, err := scan(rs)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rs.Err()
}

// cursor is *sql.Rows, or pgRows on PostgreSQL, in a transaction and in ExecRows.
type cursor interface {
	Scanner
	Next() bool
	Err() error
	Close() error
}

// Rows are the result of a query. They close when Next returns false. Their errors are
// fault.Unavailable if the database cannot serve.
type Rows struct {
	cursor
	tx     *Tx    // nil outside a transaction
	closed func() // nil once closed
	err    error  // of the cursor, once closed
}

// Next advances to the next row.
func (r *Rows) Next() bool {
	if r.cursor.Next() {
		return true
	}
	r.Close()
	return false
}

// Scan reads the columns of the current row.
func (r *Rows) Scan(dest ...any) error { return r.fail(r.cursor.Scan(dest...)) }

// Err returns the error that ended the rows, if any.
func (r *Rows) Err() error {
	if r.closed == nil {
		return r.fail(r.err)
	}
	return r.fail(r.cursor.Err())
}

// Close frees the connection. Closing twice is harmless.
func (r *Rows) Close() error {
	err := r.cursor.Close()
	if r.closed != nil {
		// closed ends the context, which database/sql would report as the rows' error.
		r.err = r.cursor.Err()
		r.closed()
		r.closed = nil
	}
	return r.fail(err)
}

func (r *Rows) fail(err error) error {
	if r.tx != nil {
		return r.tx.fail(err)
	}
	return classify(err)
}

// Row is the result of a query for one row.
type Row struct {
	rows *Rows
	err  error
}

// Scan reads the columns and frees the connection. It returns sql.ErrNoRows without a row.
func (r *Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	// A statement such as UPDATE … RETURNING may fail after its row.
	if err := r.rows.Close(); err != nil {
		return err
	}
	return r.rows.Err()
}

// Each calls read for each row and closes the rows. rs and err are the result of Query.
func Each(rs *Rows, err error, read func(Scanner) error) error {
	if err != nil {
		return err
	}
	defer rs.Close()
	for rs.Next() {
		if err := read(rs); err != nil {
			return err
		}
	}
	return rs.Err()
}
