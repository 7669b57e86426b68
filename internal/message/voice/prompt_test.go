package voice_test

import (
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/voice"
)

// TestOutcomes: only a call to which a person listened counts as delivered.
func TestOutcomes(t *testing.T) {
	for outcome, want := range map[voice.Outcome]message.Report{
		voice.Completed: {Receipt: message.ReceiptDelivered},
		voice.NoAnswer:  {Receipt: message.ReceiptUnreachable, Cause: message.CauseNoAnswer},
		voice.Busy:      {Receipt: message.ReceiptUnreachable, Cause: message.CauseBusy},
		voice.NoKey:     {Receipt: message.ReceiptUnreachable, Cause: message.CauseNoKey},
		voice.Failed:    {Receipt: message.ReceiptUndeliverable, Cause: message.CauseNoCall},
		"unknown":       {Receipt: message.ReceiptUnreachable, Cause: message.CauseNoAnswer},
	} {
		want.MessageID, want.Attempt, want.NetworkSays = "1", 3, string(outcome)
		if got := outcome.Report(message.MessageRef{MessageID: "1", Attempt: 3, Provider: "x"}); got != want {
			t.Errorf("%s: got %+v, want %+v", outcome, got, want)
		}
	}
}
