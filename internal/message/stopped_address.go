package message

import "strings"

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
