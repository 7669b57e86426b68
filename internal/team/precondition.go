package team

import (
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/fault"
)

// Precondition is an If-Match header (RFC 9110, section 13.1.1).
type Precondition struct {
	// Given is false without the header.
	Given bool
	// Any is "*": any version that exists.
	Any      bool
	Versions []int64
}

// ParsePrecondition reads the values of If-Match: versions, with or without the quotes of
// an ETag. Tags that are not a version match none.
func ParsePrecondition(values []string) Precondition {
	p := Precondition{Given: len(values) > 0}
	for tag := range strings.SplitSeq(strings.Join(values, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" {
			p.Any = true
		}
		if n, err := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64); err == nil && (tag == VersionTag(n) || tag == strconv.FormatInt(n, 10)) {
			p.Versions = append(p.Versions, n)
		}
	}
	return p
}

// VersionTag returns the ETag of a version.
func VersionTag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// Has reports whether the header names a version.
func (p Precondition) Has(version int64) bool { return slices.Contains(p.Versions, version) }

// check returns precondition_failed unless version is one that the caller has seen, and
// precondition_required if the header is missing although there is a version.
func (p Precondition) check(version int64, required bool) error {
	switch {
	case !p.Given && version > 0 && required:
		return fault.New(fault.PreconditionRequired, "precondition_required", "This sheet exists already. Read it, and send its ETag in If-Match.")
	case !p.Given, p.Any && version > 0, p.Has(version):
		return nil
	}
	return fault.New(fault.PreconditionFailed, "precondition_failed", "This sheet has changed since you read it. Apply your changes to the current one.")
}
