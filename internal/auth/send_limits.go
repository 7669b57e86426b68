package auth

import (
	"net/netip"
	"time"
)

// networksPerSite is how many times the sends of one network the /48 around an IPv6 /64
// may request. A provider assigns up to a /48 to one customer.
const networksPerSite = 5

// totalSends is the name of the limits that all callers share.
const totalSends = "otp_sends_total_hour"

// sendLimits lists the limits of a request for an OTP of key.
// A request without the role sends nothing. It must not use up the sends of the number
// or the total, but must be refused like one that sends. So it counts for shadow limits
// of this number and role, and only checks the others:
//
//	                       network   number           shadow   total   total of new numbers
//	the number holds role  counted   counted          -        counted -
//	a new coach            counted   counted          -        counted counted
//	sends nothing          counted   checked          counted  checked -
//
// The codes of a known device have a limit of the device alone. Those to a confirmed address count
// for the network, too, because anyone can request them.
//
// While too many wrong codes block the number or device, no code leaves for any role, so that only
// the network counts and everything else is checked.
//
// Calls and SMS have separate totals, so that a flood of calls stops no SMS.
//
// The order is fixed, so that concurrent requests lock rows in the same order and
// cannot deadlock.
// A request can be silent although the number holds the role: see OTPRequest.
func (s *Service) sendLimits(key ChallengeKey, in OTPRequest, roles RoleFacts) []Limit {
	set, number, address, total := s.Settings, string(key.Number), in.Network, "all"
	if in.ByVoice {
		total = "voice/all"
	}
	silent := in.Silent || !roles.MaySignIn(key.Role)
	blocked, nothingLeaves := roles.Blocked, silent || roles.Blocked
	var limits []Limit
	add := func(name, key string, most int, per time.Duration, checkOnly bool) {
		if most > 0 {
			limits = append(limits, Limit{Name: name, Key: "send/" + key, Max: most, Per: per, CheckOnly: checkOnly, Total: name == totalSends})
		}
	}
	if key.DeviceID == "" || key.ByEmail() {
		if site := siteOf(address); site != "" {
			add("otp_sends_per_address_hour", "site/"+site, set.SendsPerAddressHour*networksPerSite, time.Hour, false)
		}
		add("otp_sends_per_address_hour", "address/"+address, set.SendsPerAddressHour, time.Hour, false)
	}
	if key.DeviceID != "" {
		add("otp_sends_per_device_day", "device/"+key.sender(), deviceSends, 24*time.Hour, blocked)
		return limits
	}
	add("otp_sends_per_day", "day/"+number, set.SendsPerDay, 24*time.Hour, nothingLeaves)
	add("otp_sends_per_hour", "hour/"+number, set.SendsPerHour, time.Hour, nothingLeaves)
	if silent {
		shadow := number + "/" + string(key.Role)
		add("otp_sends_per_day", "shadow/day/"+shadow, set.SendsPerDay, 24*time.Hour, blocked)
		add("otp_sends_per_hour", "shadow/hour/"+shadow, set.SendsPerHour, time.Hour, blocked)
	}
	add(totalSends, total, set.SendsTotalHour, time.Hour, nothingLeaves)
	if !silent && !roles.Held() {
		// The other half is kept for numbers that hold their role.
		add(totalSends, total+"/new", set.SendsTotalHour-set.SendsTotalHour/2, time.Hour, blocked)
	}
	return limits
}

// siteOf returns the /48 around an IPv6 network, or "" for an IPv4 address.
func siteOf(network string) string {
	p, err := netip.ParsePrefix(network)
	if err != nil || !p.Addr().Is6() {
		return ""
	}
	site, err := p.Addr().Prefix(48)
	if err != nil {
		return ""
	}
	return site.String()
}
