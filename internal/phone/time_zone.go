package phone

import (
	"slices"

	"github.com/nyaruka/phonenumbers"
)

// TimeZone returns the IANA name of the time zone of n, or "UTC" if it is unknown. A number
// in a country with several time zones may get one of the others.
func (n Number) TimeZone() string {
	zones, err := phonenumbers.GetTimezonesForPrefix(string(n))
	if err != nil || len(zones) == 0 || zones[0] == phonenumbers.UNKNOWN_TIMEZONE {
		return "UTC"
	}
	if len(zones) > 1 {
		if main := mainZones[n.Region()]; slices.Contains(zones, main) {
			return main
		}
	}
	if name := currentNames[zones[0]]; name != "" {
		return name
	}
	return zones[0]
}

// RegionTimeZone returns the IANA name of the time zone of an ISO 3166 country, or "UTC" if it
// is unknown. In a country with several time zones it is the one of most people.
func RegionTimeZone(region string) string {
	if main := mainZones[region]; main != "" {
		return main
	}
	// Countries share a country code: +1 alone is 25 of them.
	example := phonenumbers.GetExampleNumberForType(region, phonenumbers.MOBILE)
	if example == nil {
		example = phonenumbers.GetExampleNumber(region)
	}
	if example == nil {
		return "UTC"
	}
	return Number(phonenumbers.Format(example, phonenumbers.E164)).TimeZone()
}

// mainZones are the time zones of most people in countries with several, where the numbers of
// libphonenumber name another one or more than one.
var mainZones = map[string]string{
	"AU": "Australia/Sydney", "BR": "America/Sao_Paulo", "CA": "America/Toronto", "CD": "Africa/Kinshasa", "CL": "America/Santiago",
	"EC": "America/Guayaquil", "ES": "Europe/Madrid", "GB": "Europe/London", "ID": "Asia/Jakarta", "IT": "Europe/Rome",
	"KZ": "Asia/Almaty", "MN": "Asia/Ulaanbaatar", "MX": "America/Mexico_City", "MY": "Asia/Kuala_Lumpur", "NO": "Europe/Oslo",
	"NZ": "Pacific/Auckland", "PT": "Europe/Lisbon", "RU": "Europe/Moscow", "US": "America/New_York",
}

// currentNames are the names of time zones that libphonenumber calls by an older one.
var currentNames = map[string]string{
	"Asia/Calcutta": "Asia/Kolkata", "Asia/Katmandu": "Asia/Kathmandu", "Asia/Rangoon": "Asia/Yangon", "Asia/Saigon": "Asia/Ho_Chi_Minh",
}
