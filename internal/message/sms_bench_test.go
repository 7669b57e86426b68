package message_test

import (
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// BenchmarkSMSOf renders the SMS of an approval request. The worker renders each SMS twice: once to count its segments and once to
// send it.
func BenchmarkSMSOf(b *testing.B) {
	for name, m := range map[string]message.Message{
		"short names": request(message.RequestDetails{Party: actor.Guardian, CoachName: "Meera", StudentName: "Asha", ShortCode: "ABCD2345"}, "https://t.example/a/x", false),
		"long names": request(message.RequestDetails{
			Party: actor.Guardian, CoachName: "Venkata Subrahmanyam Raghunathan", StudentName: "Anantha Padmanabha Krishnamurthy",
			ShortCode: "ABCD2345", BatchNames: []string{"Saturday morning juniors"},
		}, "https://touchline.example.org/a/x", false),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				message.SMSOf(m)
			}
		})
	}
}
