package phone

import "github.com/nyaruka/phonenumbers"

// TimeZone returns the IANA name of the time zone of n, or "UTC" if it is unknown. A number
// in a country with several time zones may get one of the others.
func (n Number) TimeZone() string {
	zones, err := phonenumbers.GetTimezonesForPrefix(string(n))
	if err != nil || len(zones) == 0 || zones[0] == phonenumbers.UNKNOWN_TIMEZONE {
		return "UTC"
	}
	return zones[0]
}
