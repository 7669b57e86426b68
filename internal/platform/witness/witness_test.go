package witness_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/platform/witness"
)

const (
	text   = "log.example\n20\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
	signed = text + "\n— log.example Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
)

// key is a key of a witness, with the private one.
type key struct {
	private ed25519.PrivateKey
	hash    []byte
	vkey    string
}

func newKey(name string, seed byte) key {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+seed)), ed25519.SeedSize)))
	public := append([]byte{4}, private.Public().(ed25519.PublicKey)...)
	sum := sha256.Sum256(append([]byte(name+"\n"), public...))
	return key{private, sum[:4], fmt.Sprintf("%s+%x+%s", name, sum[:4], base64.StdEncoding.EncodeToString(public))}
}

// line returns a cosignature of a checkpoint at a time.
func (k key) line(name, checkpoint string, at uint64) string {
	signature := ed25519.Sign(k.private, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", at, checkpoint))
	raw := append(binary.BigEndian.AppendUint64(append([]byte{}, k.hash...), at), signature...)
	return fmt.Sprintf("— %s %s\n", name, base64.StdEncoding.EncodeToString(raw))
}

// TestAddCheckpoint: the request has the form of the specification, and only cosignatures of the witness's key with a time are
// accepted.
func TestAddCheckpoint(t *testing.T) {
	t.Parallel()
	k, other := newKey("w.example", 0), newKey("w.example", 1)
	good := k.line("w.example", text, 1679315147)
	type response struct {
		status int
		body   string
	}
	responses := make(chan response, 1)
	requests := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- r.Method + " " + r.URL.Path + "\n" + string(body)
		next := <-responses
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
	}))
	t.Cleanup(server.Close)
	w, err := witness.Parse("witness one " + k.vkey + " " + server.URL + "/prefix/")
	if err != nil {
		t.Fatal(err)
	}
	sender := webhook.NewOperatorSender(time.Now)
	for name, tt := range map[string]struct {
		response
		cosignatures string
		size         int64
		reason       string
	}{
		"cosigned":                {response{200, good}, good, 0, ""},
		"and lines of other keys": {response{200, "— w.example AAAAAAAA\n" + other.line("w.example", text, 1) + good}, good, 0, ""},
		"another key":             {response{200, other.line("w.example", text, 1)}, "", 0, "without a valid cosignature"},
		"another checkpoint":      {response{200, k.line("w.example", strings.Replace(text, "20", "21", 1), 1)}, "", 0, "without a valid cosignature"},
		"without a time":          {response{200, k.line("w.example", text, 0)}, "", 0, "has no time"},
		"no line":                 {response{200, ""}, "", 0, "without a valid cosignature"},
		"a page":                  {response{200, "<html>\n"}, "", 0, "without a valid cosignature"},
		"a size":                  {response{409, "17\n"}, "", 17, ""},
		"no size":                 {response{409, "<html>"}, "", 0, "409 without the size"},
		"a negative size":         {response{409, "-1\n"}, "", -1, "409 without the size"},
		"refused":                 {response{422, "no"}, "", 0, ""},
	} {
		responses <- tt.response
		r, err := w.AddCheckpoint(t.Context(), sender, 7, tlog.TreeProof{{1}, {2}}, []byte(signed))
		want := "POST /prefix/add-checkpoint\nold 7\nAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n" + signed
		if got := <-requests; got != want {
			t.Errorf("%s: request\n%s\nwant\n%s", name, got, want)
		}
		if r.Status != tt.status || r.Cosignatures != tt.cosignatures || r.Size != tt.size || (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
			t.Errorf("%s: got %+v, %v, want %+v", name, r, err, tt)
		}
	}
}
