package api

import (
	"encoding/json"

	"github.com/touchline/touchline/internal/approval"
)

// serviceAccess is one row of the matrix of services.
type serviceAccess struct {
	Service  string `json:"service"`
	Guardian bool   `json:"guardian"`
	Student  bool   `json:"student"`
}

// availabilityRest is the Availability of openapi.yaml without its player_id.
type availabilityRest struct {
	ChatEnabled        bool            `json:"chat_enabled"`
	SMSEnabled         bool            `json:"sms_enabled"`
	GuardianAppEnabled bool            `json:"guardian_app_enabled"`
	StudentAppEnabled  bool            `json:"student_app_enabled"`
	Services           []serviceAccess `json:"services"`
}

// availability answers are asked for more often than all others, and there are
// four but for the id: each is encoded once.
type availability struct {
	services []serviceAccess
	rest     []byte
}

var availabilities = func() (all [4]availability) {
	for i := range all {
		a := approval.Availability{GuardianApp: i&1 != 0, StudentApp: i&2 != 0}
		rest, err := json.Marshal(availabilityRest{true, true, a.GuardianApp, a.StudentApp, matrix(a)})
		if err != nil {
			panic(err) // booleans and constants: a test encodes them
		}
		all[i] = availability{matrix(a), rest}
	}
	return all
}()

// known returns the answer that is ready for a.
func known(a approval.Availability) availability {
	i := 0
	if a.GuardianApp {
		i |= 1
	}
	if a.StudentApp {
		i |= 2
	}
	return availabilities[i]
}

// services returns the matrix of a, shared by all: not to be changed.
func services(a approval.Availability) []serviceAccess { return known(a).services }

// matrix lists the immediate services, on for both, then the app services.
func matrix(a approval.Availability) []serviceAccess {
	var rows []serviceAccess
	for _, s := range approval.Immediate {
		rows = append(rows, serviceAccess{s, true, true})
	}
	for _, s := range approval.AppServices {
		rows = append(rows, serviceAccess{s, a.GuardianApp, a.StudentApp})
	}
	return rows
}

// availabilityJSON is the Availability of openapi.yaml, in two parts, the second
// shared by all. The id comes from the store and needs no escape.
func availabilityJSON(a approval.Availability) (first, rest []byte) {
	return []byte(`{"player_id":"` + a.PlayerID + `",`), known(a).rest[1:]
}
