// Package webhook sends signed messages to endpoints of other services, by the Standard
// Webhooks specification. It decides which network addresses a message may go to. It does not
// know what a message says, nor when to send it again.
package webhook
