package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// secretPrefix is the prefix of a secret in the specification.
const secretPrefix = "whsec_"

// errSecret does not repeat the secret.
var errSecret = errors.New("webhook: a secret is not whsec_ and base64")

// ValidSecret reports whether a secret can sign messages.
func ValidSecret(secret string) bool {
	_, err := sign([]string{secret}, "", time.Time{}, nil)
	return err == nil && strings.HasPrefix(secret, secretPrefix)
}

// sign returns the value of the header webhook-signature: one signature for each secret,
// separated by spaces, over the id, the time and the body.
func sign(secrets []string, id string, at time.Time, body []byte) (string, error) {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil || len(key) == 0 {
			return "", errSecret
		}
		h := hmac.New(sha256.New, key)
		h.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		h.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
	}
	return strings.Join(signatures, " "), nil
}
