package config

import (
	"errors"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/platform/witness"
)

// CheckpointFile returns the file LOG_CHECKPOINT, or "". A service with another database may have no DATA_DIR.
func (c *Config) CheckpointFile() string {
	if c.LogCheckpoint == none || !c.isSet("LOG_CHECKPOINT") && c.DatabaseURL != c.defaultDatabase() {
		return ""
	}
	return c.LogCheckpoint
}

// parseWitnesses parses LOG_WITNESSES.
func parseWitnesses(text string) (any, error) {
	var list []witness.Witness
	var errs []error
	for i, line := range parseList(text) {
		w, err := witness.Parse(line)
		if err != nil {
			errs = append(errs, fmt.Errorf("entry %d: %w", i+1, err))
			continue
		}
		if slices.ContainsFunc(list, func(other witness.Witness) bool { return other.Name == w.Name || other.Vkey == w.Vkey }) {
			errs = append(errs, fmt.Errorf("entry %d repeats a name or a key", i+1))
		}
		list = append(list, w)
	}
	if len(list) > maxWitnesses {
		errs = append(errs, fmt.Errorf("must have at most %d witnesses", maxWitnesses))
	}
	return list, errors.Join(errs...)
}

// maxWitnesses limits the cosignatures of a checkpoint: each receipt carries them.
const maxWitnesses = 16
