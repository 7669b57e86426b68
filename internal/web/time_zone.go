package web

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/message"
)

// timeZones are the time zones that the form offers, beside the chosen one.
var timeZones = []string{
	"Asia/Kolkata", "Asia/Colombo", "Asia/Dhaka", "Asia/Dubai", "Asia/Karachi", "Asia/Kathmandu", "Asia/Kuala_Lumpur", "Asia/Riyadh", "Asia/Singapore",
	"Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/New_York", "America/Toronto",
	"Australia/Perth", "Australia/Sydney", "Europe/Berlin", "Europe/London", "Pacific/Auckland", "UTC",
}

// OfferedZones returns the time zones that the form offers, with the chosen one.
func OfferedZones(f *Form) []string {
	if zone := f.Value("time_zone"); zone != "" && !slices.Contains(timeZones, zone) && message.KnownTimeZone(zone) {
		return append([]string{zone}, timeZones...)
	}
	return timeZones
}

// ZoneName returns a time zone as people write it: "Kuala Lumpur (Asia)".
func (v *Texts) ZoneName(zone string) string {
	region, city, ok := strings.Cut(strings.ReplaceAll(zone, "_", " "), "/")
	if !ok {
		return zone
	}
	return city + " (" + region + ")"
}
