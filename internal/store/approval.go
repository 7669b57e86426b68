package store

import "github.com/touchline/touchline/internal/approval"

var _ approval.Store = (*DB)(nil)
