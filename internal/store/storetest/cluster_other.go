//go:build !unix

package storetest

import (
	"errors"
	"net/url"
)

// startCluster is not supported: it needs a Unix shell.
func startCluster(string, ...string) (*url.URL, error) {
	return nil, errors.New("set " + serverEnv + " to the URL of a server where databases may be created")
}

// programs finds no programs: they must be in PATH.
func programs() (string, error) { return "", errors.New("the programs of PostgreSQL are not in PATH") }
