package phone

import (
	"cmp"
	"slices"

	"github.com/nyaruka/phonenumbers"
)

// TimeZone returns the IANA name of the time zone of n, or "UTC" if it is unknown. A number
// in a country with several time zones may get one of the others.
func (n Number) TimeZone() string {
	region := n.Region()
	if zone := ownZones[region]; zone != "" {
		return zone
	}
	zones, err := phonenumbers.GetTimezonesForPrefix(string(n))
	if err != nil || len(zones) == 0 || zones[0] == phonenumbers.UNKNOWN_TIMEZONE {
		return "UTC"
	}
	if len(zones) > 1 {
		if main := mainZones[region]; slices.Contains(zones, main) {
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
	if zone := cmp.Or(ownZones[region], mainZones[region]); zone != "" {
		return zone
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
// libphonenumber name another one or more than one. India is the default region: its entry keeps the zones of all numbers out of memory at the start.
var mainZones = map[string]string{
	"AU": "Australia/Sydney", "BR": "America/Sao_Paulo", "CA": "America/Toronto", "CD": "Africa/Kinshasa", "CL": "America/Santiago",
	"EC": "America/Guayaquil", "ES": "Europe/Madrid", "GB": "Europe/London", "IN": "Asia/Kolkata", "ID": "Asia/Jakarta", "IT": "Europe/Rome",
	"KI": "Pacific/Tarawa", "KZ": "Asia/Almaty", "MN": "Asia/Ulaanbaatar", "MX": "America/Mexico_City", "MY": "Asia/Kuala_Lumpur", "NO": "Europe/Oslo",
	"NZ": "Pacific/Auckland", "PF": "Pacific/Tahiti", "PT": "Europe/Lisbon", "RU": "Europe/Moscow", "US": "America/New_York",
}

// ownZones are the time zones of countries for which libphonenumber names one of another country,
// whose clock differs or is set forward in summer.
var ownZones = map[string]string{
	"CC": "Indian/Cocos", "CX": "Indian/Christmas", "DZ": "Africa/Algiers", "EH": "Africa/El_Aaiun", "LY": "Africa/Tripoli",
	"MA": "Africa/Casablanca", "NI": "America/Managua", "PS": "Asia/Hebron", "SS": "Africa/Juba",
}

// currentNames are the names of time zones that libphonenumber calls by an older one.
var currentNames = map[string]string{
	"Asia/Calcutta": "Asia/Kolkata", "Asia/Katmandu": "Asia/Kathmandu", "Asia/Rangoon": "Asia/Yangon", "Asia/Saigon": "Asia/Ho_Chi_Minh",
}
