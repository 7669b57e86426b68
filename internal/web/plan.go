package web

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/coach"
)

// TierTitle returns the title of a tier by its name.
func (v *View) TierTitle(tiers []coach.Tier, name string) string {
	for _, t := range tiers {
		if t.Name == name {
			return t.Title
		}
	}
	return name
}

// Feature returns the name of a feature for people. Features of the apps have no text here.
func (v *View) Feature(name string) string {
	if text, err := v.T("feature." + name); err == nil {
		return text
	}
	return strings.ReplaceAll(name, "_", " ")
}

// Limit returns a limit of a tier for people.
func (v *View) Limit(name string, limit int64) string {
	switch {
	case limit == 0:
		return v.MustT("plan.unlimited")
	case name == "storage_bytes":
		return v.Bytes(limit)
	}
	return v.Number(limit)
}

// Used returns how much of a limit of a tier is used, for people.
func (v *View) Used(name string, used, limit int64) string {
	text := v.Number(used)
	if name == "storage_bytes" {
		text = v.Bytes(used)
	}
	if limit == 0 {
		return v.MustT("settings.plan.used.unlimited", "Used", text)
	}
	return v.MustT("settings.plan.used", "Used", text, "Limit", v.Limit(name, limit))
}

// Bytes returns a size for people, such as "200 MB", with 1 MB as 1,048,576 bytes.
func (v *Texts) Bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return trimZero(float64(n)/(1<<30)) + " GB"
	case n >= 1<<20:
		return trimZero(float64(n)/(1<<20)) + " MB"
	}
	return strconv.FormatInt((n+1023)>>10, 10) + " KB"
}

func trimZero(f float64) string { return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0") }

// Number formats n, an int or int64, with commas as in India: 12,34,567.
func (v *Texts) Number(n any) string { return grouped(n) }

func grouped(n any) string { return groupDigits(fmt.Sprint(n), 2) }
