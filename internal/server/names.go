package server

import (
	"errors"
	"os"

	"github.com/touchline/touchline/internal/platform/claims"
	"github.com/touchline/touchline/internal/platform/config"
)

// RefusedNames returns the names of NAMES_REFUSED and the built-in ones. The error is config.Errors.
func RefusedNames(cfg *config.Config) (claims.List, error) {
	if cfg.NamesRefused == config.BuiltIn {
		return claims.List{}, nil
	}
	text, err := os.ReadFile(cfg.NamesRefused)
	var list claims.List
	if err == nil {
		list, err = claims.Parse(string(text))
	}
	if err != nil {
		return list, config.Errors{{Name: "TOUCHLINE_NAMES_REFUSED", Value: cfg.NamesRefused, Message: "cannot be read: " + err.Error()}}
	}
	return list, nil
}

// CheckNames returns the errors in the file of NAMES_REFUSED. It is a config.Check.
func CheckNames(cfg *config.Config) config.Errors {
	_, err := RefusedNames(cfg)
	errs, _ := errors.AsType[config.Errors](err)
	return errs
}
