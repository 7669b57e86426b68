package config

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/platform/witness"
)

// CheckpointDestination is one entry of LOG_CHECKPOINT: a file, or a URL.
type CheckpointDestination struct {
	File string
	// URL may hold a key. Host names it in logs.
	URL, Host string
	// Secret signs a webhook. Without it the URL gets a PUT.
	Secret string
}

// String returns the entry without its secrets: of a URL only scheme and host.
func (d CheckpointDestination) String() string {
	if d.URL == "" {
		return d.File
	}
	scheme, address, _ := strings.Cut(d.URL, ":")
	shown := strings.TrimPrefix(maskGateway(scheme, scheme+":"+address), scheme+":")
	if d.Secret != "" {
		shown += "#" + masked
	}
	return shown
}

// Format writes String for every verb, so that no verb shows a secret.
func (d CheckpointDestination) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, d.String()) }

// MarshalText keeps the secrets out of JSON.
func (d CheckpointDestination) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// parseCheckpoints parses LOG_CHECKPOINT. Errors give the position of an entry, because a URL may hold a key.
func parseCheckpoints(text string) (any, error) {
	var list []CheckpointDestination
	var errs []error
	files := 0
	for i, part := range parseList(text) {
		d := CheckpointDestination{File: part}
		if scheme, _, found := strings.Cut(part, "://"); found {
			address, secret, _ := strings.Cut(part, "#")
			u, err := url.Parse(address)
			switch {
			case err != nil || scheme != "https" && scheme != "http" || u.Hostname() == "":
				errs = append(errs, fmt.Errorf("entry %d must be a file, https://host/path, or https://host/path#whsec_… for a webhook", i+1))
			case secret != "" && !webhook.ValidSecret(secret):
				errs = append(errs, fmt.Errorf("entry %d: after # comes the secret of a webhook, whsec_ and base64", i+1))
			default:
				d = CheckpointDestination{URL: address, Host: u.Host, Secret: secret}
			}
		} else {
			files++
		}
		list = append(list, d)
	}
	if files > 1 {
		errs = append(errs, errors.New("must name at most one file"))
	}
	return list, errors.Join(errs...)
}

// CheckpointFile returns the file in LOG_CHECKPOINT, or "". A service with another database may have no DATA_DIR.
func (c *Config) CheckpointFile() string {
	if !c.isSet("LOG_CHECKPOINT") && c.DatabaseURL != c.defaultDatabase() {
		return ""
	}
	for _, d := range c.LogCheckpoint {
		if d.URL == "" {
			return d.File
		}
	}
	return ""
}

// CheckpointURLs returns the URLs in LOG_CHECKPOINT.
func (c *Config) CheckpointURLs() (urls []CheckpointDestination) {
	for _, d := range c.LogCheckpoint {
		if d.URL != "" {
			urls = append(urls, d)
		}
	}
	return urls
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
