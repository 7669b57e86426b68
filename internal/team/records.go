package team

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// RecordPage selects a part of a list of records: those before the record of a day and id.
type RecordPage struct {
	Day, ID string
	Limit   int
}

// RecordStore stores measurements and reports; package store implements it. A player that
// is not the coach's is not_found, and so is one that a party is not linked to.
type RecordStore interface {
	// AddMeasurement and AddReport let check refuse the stored tier of the coach, and notify
	// the parties that have the service now. If a record of the player with the id exists, they
	// set their argument to it and save nothing.
	AddMeasurement(ctx context.Context, m *Measurement, check func(tier string) error) error
	Measurements(ctx context.Context, coachID, playerID, metric string, page RecordPage) ([]Measurement, error)
	Measurement(ctx context.Context, coachID, playerID, id string) (Measurement, error)
	// UpdateMeasurement lets fn change a measurement. fn may run more than once.
	UpdateMeasurement(ctx context.Context, coachID, playerID, id string, fn func(*Measurement) error) error
	// DeleteMeasurement and DeleteReport keep the record for RestoreWithin. A restore adds it again
	// with its times and without a notification, or returns not_found.
	DeleteMeasurement(ctx context.Context, coachID, playerID, id string) error
	RestoreMeasurement(ctx context.Context, coachID, playerID, id string) error
	// MeasurementsFor lists those that the calling guardian or student may see now.
	MeasurementsFor(ctx context.Context, by actor.Actor, playerID, metric string, page RecordPage) ([]Measurement, error)

	AddReport(ctx context.Context, r *Report, check func(tier string) error) error
	Reports(ctx context.Context, coachID, playerID string, page Page) ([]Report, error)
	Report(ctx context.Context, coachID, playerID, id string) (Report, error)
	UpdateReport(ctx context.Context, coachID, playerID, id string, fn func(*Report) error) error
	DeleteReport(ctx context.Context, coachID, playerID, id string) error
	RestoreReport(ctx context.Context, coachID, playerID, id string) error
	ReportsFor(ctx context.Context, by actor.Actor, playerID string, page Page) ([]Report, error)
}

// RestoreWithin is how long a deleted record can be restored. Pages offer it for 10 s; a phone with a
// bad connection may send it later.
const RestoreWithin = 10 * time.Minute

// Records carries out the operations on progress and performance reports.
type Records struct {
	Store        RecordStore
	CheckFeature CheckFeature
	NewID        func() string
}

// checkTier returns a function that refuses tiers without an app service.
func (s *Records) checkTier(service AppService) func(tier string) error {
	return func(tier string) error { return s.CheckFeature(tier, string(service)) }
}

// VisibleSince returns the time from which a party may see records that a coach added, after
// the party approved: the start of all if the setting APP_HISTORY is all.
func VisibleSince(approvedAt time.Time, all bool) time.Time {
	if all {
		return time.Time{}
	}
	return approvedAt
}

// Measure adds a measurement of a player of the calling coach. A measurement that has an id
// already keeps it, so that a form that is sent twice adds one; it returns
// idempotency_key_reused if the form had other content the first time.
func (s *Records) Measure(ctx context.Context, by actor.Actor, m Measurement) (*Measurement, error) {
	m.CoachID = by.AccountID
	if m.ID == "" {
		m.ID = s.NewID()
	}
	sent := m
	if err := s.Store.AddMeasurement(ctx, &m, s.checkTier(ProgressTracking)); err != nil {
		return nil, err
	}
	return &m, checkSame(m.Metric == sent.Metric && m.Value == sent.Value && m.Unit == sent.Unit && m.On == sent.On)
}

// Measurements lists the measurements of a player, the newest day first: all, or those of a
// metric.
func (s *Records) Measurements(ctx context.Context, by actor.Actor, playerID, metric string, page RecordPage) ([]Measurement, error) {
	if by.Role == actor.Coach {
		return s.Store.Measurements(ctx, by.AccountID, playerID, metric, page)
	}
	return s.Store.MeasurementsFor(ctx, by, playerID, metric, page)
}

// Measurement returns a measurement of the calling coach.
func (s *Records) Measurement(ctx context.Context, by actor.Actor, playerID, id string) (Measurement, error) {
	return s.Store.Measurement(ctx, by.AccountID, playerID, id)
}

// EditMeasurement changes a measurement of the calling coach.
func (s *Records) EditMeasurement(ctx context.Context, by actor.Actor, playerID, id string, patch MeasurementPatch) (*Measurement, error) {
	var saved Measurement
	err := s.Store.UpdateMeasurement(ctx, by.AccountID, playerID, id, func(m *Measurement) error {
		patch.Apply(m)
		saved = *m
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &saved, nil
}

// DeleteMeasurement deletes a measurement of the calling coach.
func (s *Records) DeleteMeasurement(ctx context.Context, by actor.Actor, playerID, id string) error {
	return s.Store.DeleteMeasurement(ctx, by.AccountID, playerID, id)
}

// RestoreMeasurement undoes DeleteMeasurement.
func (s *Records) RestoreMeasurement(ctx context.Context, by actor.Actor, playerID, id string) error {
	return s.Store.RestoreMeasurement(ctx, by.AccountID, playerID, id)
}

// Report adds a report about a player of the calling coach. The id of a report works as in Measure.
func (s *Records) Report(ctx context.Context, by actor.Actor, r Report) (*Report, error) {
	r.CoachID = by.AccountID
	if r.ID == "" {
		r.ID = s.NewID()
	}
	sent := r
	if err := s.Store.AddReport(ctx, &r, s.checkTier(PerformanceReports)); err != nil {
		return nil, err
	}
	return &r, checkSame(r.Title == sent.Title && r.Text == sent.Text && r.From == sent.From && r.To == sent.To)
}

// Reports lists the reports about a player, newest first.
func (s *Records) Reports(ctx context.Context, by actor.Actor, playerID string, page Page) ([]Report, error) {
	if by.Role == actor.Coach {
		return s.Store.Reports(ctx, by.AccountID, playerID, page)
	}
	return s.Store.ReportsFor(ctx, by, playerID, page)
}

// OneReport returns a report of the calling coach.
func (s *Records) OneReport(ctx context.Context, by actor.Actor, playerID, id string) (Report, error) {
	return s.Store.Report(ctx, by.AccountID, playerID, id)
}

// EditReport changes a report of the calling coach.
func (s *Records) EditReport(ctx context.Context, by actor.Actor, playerID, id string, patch ReportPatch) (*Report, error) {
	var saved Report
	err := s.Store.UpdateReport(ctx, by.AccountID, playerID, id, func(r *Report) error {
		patch.Apply(r)
		if code, detail := r.CheckPeriod(); code != "" {
			return fault.Validation([]fault.Field{{Pointer: "/to", Code: code, Detail: detail}})
		}
		saved = *r
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &saved, nil
}

// DeleteReport deletes a report of the calling coach.
func (s *Records) DeleteReport(ctx context.Context, by actor.Actor, playerID, id string) error {
	return s.Store.DeleteReport(ctx, by.AccountID, playerID, id)
}

// RestoreReport undoes DeleteReport.
func (s *Records) RestoreReport(ctx context.Context, by actor.Actor, playerID, id string) error {
	return s.Store.RestoreReport(ctx, by.AccountID, playerID, id)
}
