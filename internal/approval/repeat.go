package approval

import "time"

// maxRequestsPerResendAfter is how many requests with messages one coach may send about
// one child to one party and number in ResendAfter.
const maxRequestsPerResendAfter = 5

// RepeatedFrom returns the sending from which the message of a new request waits
// ResendAfter, or zero if the message may leave now. sent are the times of the earlier
// requests of the coach about the same child to the same party and number, newest
// first, within ResendAfter. afterDecision reports whether the party rejected or revoked:
// then only the number of requests is limited. The consent itself never waits.
func RepeatedFrom(sent []time.Time, afterDecision bool) time.Time {
	switch {
	case len(sent) > 0 && !afterDecision:
		return sent[0]
	case len(sent) >= maxRequestsPerResendAfter:
		return sent[maxRequestsPerResendAfter-1]
	}
	return time.Time{}
}
