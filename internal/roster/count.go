package roster

import (
	"bytes"
	"time"
)

// CountRows reads a file as an import does, without a coach and a database, and returns how many rows it has and how
// many of them have faults. It is for collections of files (bench/corpus).
func CountRows(data []byte, now time.Time) (rows, faulty int, err error) {
	s, err := readSheet(bytes.NewReader(data), int64(len(data)), now, Options{})
	if err != nil {
		return 0, 0, err
	}
	err = s.each(func(row Row) error {
		rows++
		faulty += min(len(row.Faults), 1)
		return nil
	})
	return rows, faulty, err
}
