package notice

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"net/netip"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/webhook"
)

// TestPushEndpoints: http is only for addresses and names of the networks in the setting, because
// anyone with the URL of an endpoint can send to the device.
func TestPushEndpoints(t *testing.T) {
	t.Parallel()
	key, err := ecdh.P256().NewPrivateKey(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	for _, tt := range []struct {
		networks webhook.Networks
		accepted map[string]bool
	}{
		{nil, map[string]bool{
			"https://push.example/a": true, "http://push.example/a": false, "http://push:8080/a": false, "http://10.20.0.1/a": false,
			"https://10.20.0.1/a": false, "ftp://push.example/a": false,
		}},
		{webhook.Networks{netip.MustParsePrefix("10.20.0.0/16")}, map[string]bool{
			"https://push.example/a": true, "https://10.20.0.1/a": true, "http://10.20.0.1:8080/a": true, "http://push:8080/a": true,
			"http://push.shop.internal/a": true, "http://push.example/a": false, "http://8.8.8.8/a": false, "http://10.21.0.1/a": false,
			"http://internal.example/a": false,
		}},
	} {
		p := PushSubscriptions{
			Reachable: tt.networks.Allows, PlainHTTP: tt.networks.AllowsHTTP,
		}
		for endpoint, accepted := range tt.accepted {
			err := p.check(message.PushSubscription{
				Endpoint: endpoint, P256DH: encode(key.PublicKey().Bytes()), Auth: encode(make([]byte, 16)),
			})
			if (err == nil) != accepted {
				t.Errorf("networks %v, %s: got %v, want accepted %t", tt.networks, endpoint, err, accepted)
			}
		}
	}
}
