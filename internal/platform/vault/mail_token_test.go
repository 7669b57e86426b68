package vault_test

import (
	"strings"
	"testing"
)

func TestMailToken(t *testing.T) {
	v := newVault(t, "a")
	token := v.MailToken("meera@families.example")
	if address, ok := v.MailAddress(token); !ok || address != "meera@families.example" {
		t.Errorf("MailAddress = %q, %t", address, ok)
	}
	if token != v.MailToken("meera@families.example") || token == v.MailToken("other@families.example") || strings.Contains(token, "meera") {
		t.Errorf("token %s", token)
	}
	last := "A"
	if strings.HasSuffix(token, last) {
		last = "B"
	}
	for _, forged := range []string{"", "x", token + "A", token[:len(token)-1], token[:len(token)-2] + last + last, newVault(t, "b").MailToken("meera@families.example")} {
		if address, ok := v.MailAddress(forged); ok {
			t.Errorf("%s: got %q, want no address", forged, address)
		}
	}
}
