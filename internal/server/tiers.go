package server

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/config"
)

// maxTiersFile bounds the file of TIERS, in bytes.
const maxTiersFile = 1 << 20

// Tiers reads the subscription tiers that cfg names. The error is config.Faults
// with everything that is wrong with the file.
func Tiers(cfg *config.Config) (coach.Tiers, error) {
	tiers := coach.Tiers{KYC: cfg.KYC}
	if cfg.Tiers == config.BuiltIn {
		tiers.List = coach.DefaultTiers()
		return tiers, nil
	}
	text, err := readTiers(cfg.Tiers)
	problems := []string{}
	if err != nil {
		problems = append(problems, "cannot be read: "+err.Error())
	} else {
		tiers.List, problems = coach.ParseTiers(text)
	}
	if len(problems) == 0 {
		return tiers, nil
	}
	var faults config.Faults
	for _, problem := range problems {
		faults = append(faults, config.Fault{Name: "TOUCHLINE_TIERS", Value: cfg.Tiers, Problem: problem})
	}
	return tiers, faults
}

// CheckTiers is what is wrong with the file of TIERS, for config.Load to name
// together with all else that is wrong.
func CheckTiers(cfg *config.Config) config.Faults {
	_, err := Tiers(cfg)
	faults, _ := errors.AsType[config.Faults](err)
	return faults
}

func readTiers(path string) ([]byte, error) {
	var text []byte
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		text, err = io.ReadAll(io.LimitReader(f, maxTiersFile+1))
	}
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		err = perr.Err // the path is in the line already
	}
	if err == nil && len(text) > maxTiersFile {
		err = errors.New("it has more than a megabyte")
	}
	return text, err
}

// room judges a coach's roster by the tiers.
func room(tiers coach.Tiers) func(approval.Roster) error {
	return func(r approval.Roster) error {
		return tiers.CheckPlayers(coach.TierStatus{Tier: r.Tier, KYC: coach.KYCState(r.KYC)}, r.Players-1)
	}
}
