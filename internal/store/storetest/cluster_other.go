//go:build !unix

package storetest

import "net/url"

// startCluster is not supported: it needs a Unix shell.
func startCluster(string, ...string) (*url.URL, error) { return nil, errNoCluster }
