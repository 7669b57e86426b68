package server

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// availability is an operator.AvailabilityReader with the rule of package approval, which
// the operators' packages do not import.
type availability struct {
	db    *store.DB
	rules approval.Rules
	now   func() time.Time
}

func (a availability) OfPlayers(ctx context.Context, playerIDs []string) ([]operator.Availability, error) {
	statuses, err := a.db.ConsentStatuses(ctx, playerIDs)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]approval.ConsentStatus, len(statuses))
	for _, s := range statuses {
		byID[s.PlayerID] = s
	}
	ordered := statuses[:0]
	for _, id := range playerIDs {
		if s, found := byID[id]; found {
			ordered = append(ordered, s)
			delete(byID, id)
		}
	}
	return a.convert(ordered), nil
}

func (a availability) OfNumber(ctx context.Context, by actor.Operator, number phone.Number, role actor.Role) ([]operator.Availability, error) {
	statuses, err := a.db.ConsentStatusesOfNumber(ctx, by, number, role)
	if err != nil {
		return nil, err
	}
	return a.convert(statuses), nil
}

func (a availability) convert(statuses []approval.ConsentStatus) []operator.Availability {
	now := a.now()
	all := make([]operator.Availability, len(statuses))
	for i, status := range statuses {
		v := status.Availability(a.rules, now)
		all[i] = operator.Availability{PlayerID: v.PlayerID, Sequence: v.Sequence, GuardianApp: v.GuardianApp, StudentApp: v.StudentApp, HasChat: v.HasChat}
		for _, access := range v.Services() {
			all[i].Services = append(all[i].Services, operator.ServiceAccess(access))
		}
	}
	return all
}
