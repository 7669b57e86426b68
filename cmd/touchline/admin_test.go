package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestAdminUsage: a command line that is wrong is exit status 2 and says what is wrong. Help is
// not an error.
func TestAdminUsage(t *testing.T) {
	environ := []string{"TOUCHLINE_DATA_DIR=" + t.TempDir(), "TOUCHLINE_KYC=on"}
	for _, tt := range []struct {
		code int
		args string
		want string
	}{
		{2, "", "Usage"},
		{2, "nonsense", "touchline admin: unknown command \"nonsense\"\n\n"},
		{2, "coach lsit --kyc=off", "touchline admin coach: unknown command \"lsit\"\n\n"},
		{2, "deliveries", "--number must be a complete mobile number"},
		{2, "disputes list", "touchline admin: unknown command \"disputes list\"\n\n"},
		{2, "webhook list", "touchline admin: unknown command \"webhook list\"\n\n"},
		{0, "help", ""},
		{0, "help coach", ""},
		{0, "coach --help", ""},
		{0, "token create --help", ""},
		{2, "token create", "--name"},
		{2, "token create --name x --scopes all", "no scope"},
		{2, "token create --name x --scopes kyc --days 367", "--days"},
		{2, "token revoke", "<id>"},
		{2, "token list --nonsense", "nonsense"},
		{2, "token list --clamav=nonsense", "TOUCHLINE_CLAMAV"},
		{2, "mail allow a@b.example", "--reason"},
		{2, "mail allow a@b.example --reason a\u001b[2Jb", "--reason: This has characters that are not allowed here"},
		{2, "mail allow a@b.example --reason a\u202eb", "--reason: This has characters that are not allowed here"},
		{2, "mail allow a@b.example --reason \xff", "--reason"},
		{2, "mail allow b.example --reason Asked", "not an e-mail address"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"admin"}, strings.Fields(tt.args)...), environ, &stdout, &stderr)
		if code != tt.code || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("admin %s: got exit status %d, want %d: %q", tt.args, code, tt.code, stderr.String())
		}
	}
}
