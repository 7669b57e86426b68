package auth

import "encoding/base64"

// mailTokenContext binds the tokens that end mail to an address.
const mailTokenContext = "stop"

// MailToken returns the token with which the holder of an address ends mail to it. It hides
// the address, and every mail to the address has the same one.
func (v *Vault) MailToken(address string) string {
	return base64.RawURLEncoding.EncodeToString(v.For(ForMail).SealDeterministic([]byte(address), mailTokenContext))
}

// MailAddress returns the address of a token, or false if the token is not one of MailToken.
func (v *Vault) MailAddress(token string) (string, bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return "", false
	}
	address, err := v.For(ForMail).Open(sealed, mailTokenContext)
	return string(address), err == nil
}
