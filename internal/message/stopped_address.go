package message

import (
	"context"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// AddressStore knows whose e-mail addresses get no mail; package store implements it. Such an
// address gets only mail about the safety of an account.
type AddressStore interface {
	// StopAddressOfLink ends mail to the address to which the link with this hash left, if
	// the link is valid at now. The delivery of its request then counts as failed. stopped is
	// false for any other link; StopAddressOfLink may be repeated.
	StopAddressOfLink(ctx context.Context, linkHash []byte, now time.Time) (stopped bool, err error)
	// StoppedAddresses returns which of the addresses of an account get no mail: those that
	// coaches gave for the guardian and whose players the guardian approved, or that of the
	// coach's profile.
	StoppedAddresses(ctx context.Context, by actor.Actor) ([]string, error)
}

// FoldAddress returns the spelling under which a stopped address is stored. Mail servers
// ignore the case.
func FoldAddress(address string) string { return strings.ToLower(address) }

// MaskAddress hides most of the part before the @.
func MaskAddress(address string) string {
	local, domain, _ := strings.Cut(address, "@")
	if local == "" {
		return "•••"
	}
	first := []rune(local)[0]
	return string(first) + "•••@" + domain
}
