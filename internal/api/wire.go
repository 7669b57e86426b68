package api

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/wire"
)

// decode binds the body to a struct of type T and returns it with everything that
// is wrong with it (see wire.Bind). The faults are a value, because what is not
// the caller's is not found before it is invalid: the handler adds its own and
// ends with Server.invalid or faults.err.
func decode[T any](r *http.Request) (T, faults) {
	var into T
	c := callOf(r.Context())
	f := slices.Clone(c.faults)
	if len(c.raw) > 0 {
		wire.Bind(c.value, &into, (*wire.Faults)(&f))
	}
	return into, f
}

// faults collects all that is wrong with a request, at most one for each place.
type faults wire.Faults

func (f *faults) add(pointer, code, detail string) { (*wire.Faults)(f).Add(pointer, code, detail) }
func (f *faults) has(pointer string) bool          { return (*wire.Faults)(f).Has(pointer) }
func (f faults) err() error                        { return wire.Faults(f).Err() }

// join adds the faults that err lists, and returns err if it is anything else.
func (f *faults) join(err error) error {
	known, ok := errors.AsType[*fault.Error](err)
	if !ok || known.Kind != fault.Invalid {
		return err
	}
	for _, field := range known.Fields {
		f.add(field.Pointer, field.Code, field.Detail)
	}
	return nil
}

// Opt is a field of a merge patch (RFC 7396): absent, null, or a value.
type Opt[T any] = wire.Opt[T]

func pointTo(at string, step any) string { return wire.PointTo(at, step) }

func encode(w http.ResponseWriter, status int, v any) error { return wire.Encode(w, status, v) }

func created(w http.ResponseWriter, location string, v any) error {
	return wire.Created(w, location, v)
}

func nothing(w http.ResponseWriter) error { return wire.NoContent(w) }

func timestamp(t time.Time) string        { return wire.Timestamp(t) }
func timestampOrNull(t time.Time) *string { return wire.TimestampOrNull(t) }
func orNull(s string) *string             { return wire.OrNull(s) }
func seconds(d time.Duration) int         { return wire.Seconds(d) }
func wholeSeconds(d time.Duration) int    { return wire.CeilSeconds(d) }
