// Package dump copies whole databases between the two engines, and backs them up and restores them with their files. Both engines
// have the same tables, so a row has one form and a table has one checksum, wherever it is.
package dump

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/touchline/touchline/internal/platform/database"
)

// The first byte of an encoded value. An integer or a float has 8 bytes, a text or bytes have a length before them.
const (
	tagNull = iota
	tagFalse
	tagTrue
	tagInt
	tagFloat
	tagText
	tagBytes
)

// appendRow appends the encoded values of a row to b.
func appendRow(b []byte, row []any) ([]byte, error) {
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			b = append(b, tagNull)
		case bool:
			if v {
				b = append(b, tagTrue)
			} else {
				b = append(b, tagFalse)
			}
		case int64:
			b = binary.BigEndian.AppendUint64(append(b, tagInt), uint64(v))
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, tagFloat), math.Float64bits(v))
		case string:
			b = append(binary.AppendUvarint(append(b, tagText), uint64(len(v))), v...)
		case []byte:
			b = append(binary.AppendUvarint(append(b, tagBytes), uint64(len(v))), v...)
		default:
			return nil, fmt.Errorf("a value of the type %T", v)
		}
	}
	return b, nil
}

var errRow = errors.New("a row cannot be decoded")

// readRow decodes one row of columns from b into row, and returns the rest of b. The values share no memory with b.
func readRow(b []byte, columns []database.Column, row []any) (rest []byte, err error) {
	for i, c := range columns {
		if len(b) == 0 {
			return nil, errRow
		}
		tag := b[0]
		b = b[1:]
		var kind database.Kind
		switch tag {
		case tagNull:
			row[i] = nil
			continue
		case tagFalse, tagTrue:
			kind, row[i] = database.KindBool, tag == tagTrue
		case tagInt, tagFloat:
			if len(b) < 8 {
				return nil, errRow
			}
			n := binary.BigEndian.Uint64(b)
			b = b[8:]
			kind, row[i] = database.KindInt, int64(n)
			if tag == tagFloat {
				kind, row[i] = database.KindFloat, math.Float64frombits(n)
			}
		case tagText, tagBytes:
			n, used := binary.Uvarint(b)
			if used <= 0 || n > uint64(len(b)-used) {
				return nil, errRow
			}
			value := b[used : used+int(n)]
			b = b[used+int(n):]
			kind, row[i] = database.KindText, string(value)
			if tag == tagBytes {
				kind, row[i] = database.KindBytes, append([]byte{}, value...)
			}
		default:
			return nil, errRow
		}
		if kind != c.Kind {
			return nil, fmt.Errorf("%w: %s is %s, want %s", errRow, c.Name, kind, c.Kind)
		}
	}
	return b, nil
}

// Sum counts rows and adds up their SHA-256 hashes, so the order of the rows does not matter: each engine has its own.
type Sum struct {
	Rows  int64
	parts [4]uint64
}

// add counts an encoded row.
func (s *Sum) add(encoded []byte) {
	hash := sha256.Sum256(encoded)
	for i := range s.parts {
		s.parts[i] += binary.BigEndian.Uint64(hash[8*i:])
	}
	s.Rows++
}

// Checksum returns the sum of the hashes in hexadecimal digits.
func (s *Sum) Checksum() string {
	var b []byte
	for _, part := range s.parts {
		b = binary.BigEndian.AppendUint64(b, part)
	}
	return hex.EncodeToString(b)
}

// Total is what a table has: its rows and their checksum.
type Total struct {
	Table    string `json:"table"`
	Rows     int64  `json:"rows"`
	Checksum string `json:"checksum"`
}

func (s *Sum) total(table string) Total { return Total{table, s.Rows, s.Checksum()} }
