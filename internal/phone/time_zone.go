package phone

import (
	"strconv"

	"github.com/nyaruka/phonenumbers"
)

// TimeZone returns the IANA name of the time zone of n, or "UTC" if it is unknown. A number
// in a country with several time zones may get one of the others.
func (n Number) TimeZone() string { return zoneOfPrefix(string(n)) }

// RegionTimeZone returns the IANA name of a time zone of an ISO 3166 country, or "UTC" if
// it is unknown.
func RegionTimeZone(region string) string {
	return zoneOfPrefix("+" + strconv.Itoa(phonenumbers.GetCountryCodeForRegion(region)))
}

func zoneOfPrefix(prefix string) string {
	zones, err := phonenumbers.GetTimezonesForPrefix(prefix)
	if err != nil || len(zones) == 0 || zones[0] == phonenumbers.UNKNOWN_TIMEZONE {
		return "UTC"
	}
	if name := currentNames[zones[0]]; name != "" {
		return name
	}
	return zones[0]
}

// currentNames are the names of time zones that libphonenumber calls by an older one.
var currentNames = map[string]string{
	"Asia/Calcutta": "Asia/Kolkata", "Asia/Katmandu": "Asia/Kathmandu", "Asia/Rangoon": "Asia/Yangon", "Asia/Saigon": "Asia/Ho_Chi_Minh",
}
