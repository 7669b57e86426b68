package server

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/config"
)

// maxTiersFile is the maximum size of the file of TIERS, in bytes.
const maxTiersFile = 1 << 20

// Tiers returns the subscription tiers of TIERS. The error is config.Errors with every
// error in the file.
func Tiers(cfg *config.Config) (coach.Tiers, error) {
	tiers := coach.Tiers{KYC: cfg.KYC}
	if cfg.Tiers == config.BuiltIn {
		tiers.List = coach.DefaultTiers()
		return tiers, nil
	}
	var messages []string
	text, err := readTiers(cfg.Tiers)
	if err != nil {
		messages = append(messages, "cannot be read: "+err.Error())
	} else {
		tiers.List, messages = coach.ParseTiers(text)
	}
	if len(messages) == 0 {
		return tiers, nil
	}
	var errs config.Errors
	for _, message := range messages {
		errs = append(errs, config.Error{Name: "TOUCHLINE_TIERS", Value: cfg.Tiers, Message: message})
	}
	return tiers, errs
}

// CheckTiers returns the errors in the file of TIERS. It is a config.Check.
func CheckTiers(cfg *config.Config) config.Errors {
	_, err := Tiers(cfg)
	errs, _ := errors.AsType[config.Errors](err)
	return errs
}

func readTiers(path string) ([]byte, error) {
	var text []byte
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		text, err = io.ReadAll(io.LimitReader(f, maxTiersFile+1))
	}
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		err = perr.Err // config.Error shows the path already
	}
	if err == nil && len(text) > maxTiersFile {
		err = errors.New("the file is larger than 1 MiB")
	}
	return text, err
}

// checkRoster returns an error if a coach has more players than the tier allows.
func checkRoster(tiers coach.Tiers) func(approval.Roster) error {
	return func(r approval.Roster) error {
		return tiers.CheckPlayers(coach.TierStatus{Tier: r.Tier, KYC: coach.KYCState(r.KYC)}, r.Players-1)
	}
}
