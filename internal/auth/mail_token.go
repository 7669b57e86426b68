package auth

import "encoding/base64"

// mailTokenContext distinguishes these tokens from other texts sealed for mail.
const mailTokenContext = "stop"

// MailToken returns the token in the unsubscribe link of mails to address. It does not reveal
// the address, and is the same in every mail to it.
func (v *Vault) MailToken(address string) string {
	return base64.RawURLEncoding.EncodeToString(v.For(ForMail).SealDeterministic([]byte(address), mailTokenContext))
}

// MailAddress returns the address of a token, or false if MailToken did not create the token.
func (v *Vault) MailAddress(token string) (string, bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return "", false
	}
	address, err := v.For(ForMail).Open(sealed, mailTokenContext)
	return string(address), err == nil
}
