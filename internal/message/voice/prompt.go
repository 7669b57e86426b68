package voice

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Prompt is what a call says in one step, and the keys for which it then waits.
type Prompt = message.CallPrompt

// Answerer takes one step of a call and returns what the call says next. callID is Call.ID, and to the
// number that was called.
//
//	state ""  key ""    the person answered the call: returns the first prompt
//	State     "1"       the person pressed a key after the prompt with this State. Any text may come.
//	State     ""        the person pressed no key until the transport stopped waiting
//
// A transport calls it for each callback that its provider sent, also for repeated and late ones: only a
// key that is possible now changes something. The transport must know that the callback is the
// provider's, because the proof of who answers is the number that was called. A transport reports no
// key of a mailbox, and none that it was not told. An error is temporary, and has changed
// nothing: the call may end, or the transport may ask again.
type Answerer func(ctx context.Context, callID string, to phone.Number, state, key string) (Prompt, error)

// Outcome is how a call ended.
type Outcome string

// The outcomes.
const (
	// Completed: a person answered and listened, whether they pressed a key or not.
	Completed Outcome = "completed"
	NoAnswer  Outcome = "no_answer"
	Busy      Outcome = "busy"
	// NoKey: a person or a mailbox answered and pressed no key.
	NoKey Outcome = "no_key"
	// Failed: no call can reach the number.
	Failed Outcome = "failed"
)

// Report returns the receipt of an attempt that ended.
func (o Outcome) Report(attempt message.MessageRef) message.Report {
	r := message.Report{MessageID: attempt.MessageID, Attempt: attempt.Attempt, NetworkSays: string(o)}
	switch o {
	case Completed:
		r.Receipt = message.ReceiptDelivered
	case Busy:
		r.Receipt, r.Cause = message.ReceiptUnreachable, message.CauseBusy
	case NoKey:
		r.Receipt, r.Cause = message.ReceiptUnreachable, message.CauseNoKey
	case Failed:
		r.Receipt, r.Cause = message.ReceiptUndeliverable, message.CauseNoCall
	default:
		r.Receipt, r.Cause = message.ReceiptUnreachable, message.CauseNoAnswer
	}
	return r
}
