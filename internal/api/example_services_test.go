package api_test

import (
	"fmt"
	"testing"
)

// TestExampleServicesAgree checks that every example of a player, of an availability or of a list of them shows
// services that agree with its statuses: an app service of a party is on exactly while the status is approved, and
// chat, SMS, roster, attendance and fees by hand are always on (specification 2.4).
func TestExampleServicesAgree(t *testing.T) {
	t.Parallel()
	always := map[string]bool{"chat": true, "sms": true, "roster": true, "attendance": true, "manual_fees": true}
	checked := 0
	var check func(at string, v any)
	check = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for i, e := range v {
				check(fmt.Sprint(at, "/", i), e)
			}
		case map[string]any:
			for name, e := range v {
				check(at+"/"+name, e)
			}
			services, _ := v["services"].([]any)
			for _, party := range []string{"guardian", "student"} {
				enabled, known := v[party+"_app_enabled"].(bool)
				if status, ok := v[party+"_status"].(string); ok {
					if known && enabled != (status == "approved") {
						t.Errorf("%s: %s_status %s, %s_app_enabled %t", at, party, status, party, enabled)
					}
					enabled, known = status == "approved", true
				} else if _, player := v[party+"_status"]; player { // null: no party
					enabled, known = false, true
				}
				for _, s := range services {
					s, ok := s.(map[string]any)
					if !ok || !known {
						continue
					}
					checked++
					name, _ := s["service"].(string)
					someone, named := v[party]
					if got, want := s[party], (always[name] || enabled) && (someone != nil || !named); got != want {
						t.Errorf("%s: the service %s is %v for the %s, want %t", at, name, got, party, want)
					}
				}
			}
		}
	}
	for name, doc := range strictDocuments(t) {
		check(name, doc)
	}
	if checked < 40 {
		t.Errorf("%d services of parties were compared, want more", checked)
	}
}
