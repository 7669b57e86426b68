package auth

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// PasskeyApp is a native app that may use the passkeys of the service.
type PasskeyApp struct {
	// ID is the package of an Android app, or the app id of an iOS app with the team before it.
	ID string
	// Certificate is the SHA-256 of the certificate that signs an Android app; empty for an iOS app. Fingerprint is the same as
	// Android writes it.
	Certificate []byte
	Fingerprint string
}

// origins returns the origins of PUBLIC_URL, of the pages on other origins to which browsers give passkeys of the domain, and of
// Android apps. An iOS app answers with the origin of the domain.
func (a PasskeyAccess) origins(own *url.URL) []string {
	all := []string{own.Scheme + "://" + own.Host}
	for _, origin := range a.Origins {
		u, err := url.Parse(origin)
		if err == nil && (u.Hostname() == own.Hostname() || strings.HasSuffix(u.Hostname(), "."+own.Hostname())) {
			all = append(all, origin)
		}
	}
	for _, app := range a.Apps {
		if len(app.Certificate) > 0 {
			all = append(all, "android:apk-key-hash:"+base64.RawURLEncoding.EncodeToString(app.Certificate))
		}
	}
	return all
}

// PasskeyAccess says which pages and apps beside those of PUBLIC_URL may use passkeys.
type PasskeyAccess struct {
	// Origins are those of web apps. Only those on the domain of the passkeys or below it count.
	Origins []string
	Apps    []PasskeyApp
}

// credentialFor returns the credential with which an answer is compared. Two values that a synchronised passkey changes are
// taken from the answer, whose signature covers them: iCloud and KeePassXC report only after the registration that a passkey is
// synchronised, and the counter of a passkey that moved to a synchronised store falls to 0.
func (p *Passkey) credentialFor(answer protocol.AuthenticatorData) webauthn.Credential {
	c := p.credential
	c.Flags.BackupEligible = answer.Flags.HasBackupEligible()
	if c.Flags.BackupEligible && answer.Counter == 0 {
		c.Authenticator.SignCount = 0
	}
	return c
}
