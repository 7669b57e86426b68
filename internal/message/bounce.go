package message

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"strings"

	"github.com/touchline/touchline/internal/platform/fault"
)

// BounceReader reads a report of a mail that did not arrive. final is false if the report
// says nothing final. The error is a *BounceError.
type BounceReader func(contentType string, body []byte) (r Report, final bool, err error)

// BounceError is the fault of a report.
type BounceError struct {
	// MediaType is true if no report has the content type.
	MediaType bool
	// Confirm is set if the body asks to open this address once, before the provider sends reports.
	Confirm string
	// Pointer is the member of a JSON object that is wrong, or empty if the body cannot be
	// read at all.
	Pointer string
	Detail  string
}

// Error returns the detail.
func (e *BounceError) Error() string { return e.Detail }

// problem returns e as the error of a call.
func (e *BounceError) problem() error {
	switch {
	case e.MediaType:
		return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "%s", e.Detail)
	case e.Pointer != "":
		return fault.Validation([]fault.Field{{Pointer: e.Pointer, Code: "invalid_value", Detail: e.Detail}})
	}
	return fault.New(fault.Malformed, "malformed_request", "%s", e.Detail)
}

// Bounces receives reports of mails that did not arrive, from a mail server or a provider
// that has one address for all of them.
type Bounces struct {
	Store ReceiptStore
	// Secret is the end of the address. Without it no report is accepted.
	Secret string
	Read   BounceReader
	Log    *slog.Logger
}

// Check returns token_invalid if secret is wrong. It needs no body.
func (b *Bounces) Check(secret string) error {
	// Hashes have one length, so the comparison reveals none.
	given, want := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(b.Secret))
	if b.Secret == "" || subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
		return errForged()
	}
	return nil
}

// Receive stores a report. If secret is wrong, it returns token_invalid and changes nothing. A
// report of a mail that the service no longer knows changes nothing.
func (b *Bounces) Receive(ctx context.Context, secret, contentType string, body []byte) error {
	if err := b.Check(secret); err != nil {
		return err
	}
	r, final, err := b.Read(contentType, body)
	if wrong, ok := errors.AsType[*BounceError](err); ok {
		if wrong.Confirm != "" {
			b.Log.WarnContext(ctx, "open this address once, so that Amazon SNS sends the reports of mails that did not arrive", "address", wrong.Confirm)
			return nil
		}
		return wrong.problem()
	}
	if err != nil {
		return err
	}
	if !final {
		return nil
	}
	if strings.ContainsFunc(r.MessageID, notInID) {
		b.Log.InfoContext(ctx, "a report of a mail that did not arrive names no mail of this service")
		return nil
	}
	_, err = storeReport(ctx, b.Store, b.Log, string(Email), r)
	return err
}

// notInID reports whether c is in no id of a delivery, so that a mail with it is from another
// system. PostgreSQL refuses some characters, such as NUL, with an error.
func notInID(c rune) bool { return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') }
