package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// PasskeyApp is a native app that may use the passkeys of the service.
type PasskeyApp struct {
	// ID is the package of an Android app, or the app id of an iOS app with the team before it.
	ID string
	// Certificate is the SHA-256 fingerprint of the certificate that signs an Android app; empty for an iOS app.
	Certificate []byte
}

// Fingerprint returns the certificate as keytool prints it, such as 14:6D:E9:….
func (a PasskeyApp) Fingerprint() string {
	parts := make([]string, len(a.Certificate))
	for i, b := range a.Certificate {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}

// String returns the app as an operator would write it.
func (a PasskeyApp) String() string {
	if len(a.Certificate) == 0 {
		return a.ID
	}
	return a.ID + "=" + a.Fingerprint()
}

var (
	androidPackage = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)+$`)
	iosApp         = regexp.MustCompile(`^[A-Z0-9]{10}(\.[A-Za-z0-9-]+)+$`)
)

// parsePasskeyApps parses <package>=<fingerprint> of each Android app, and <team>.<bundle> of each iOS app.
func parsePasskeyApps(text string) (any, error) {
	var apps []PasskeyApp
	var errs []error
	for _, part := range parseList(text) {
		id, fingerprint, android := strings.Cut(part, "=")
		certificate, err := hex.DecodeString(strings.ReplaceAll(fingerprint, ":", ""))
		if android && (err != nil || len(certificate) != sha256.Size || !androidPackage.MatchString(id)) || !android && !iosApp.MatchString(id) {
			errs = append(errs, fmt.Errorf("%q must be written as com.example.app=<SHA-256 fingerprint of the certificate, 14:6D:…> or, for iOS, as ABCDE12345.com.example.app", part))
		}
		apps = append(apps, PasskeyApp{id, certificate})
	}
	return apps, errors.Join(errs...)
}
