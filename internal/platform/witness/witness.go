// Package witness asks witnesses of transparency logs for cosignatures, and verifies them (C2SP tlog-witness, tlog-cosignature and
// tlog-policy). It does not know what a log holds, nor when to ask.
package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/platform/webhook"
)

// Witness is a service that cosigns checkpoints which continue those that it has seen.
type Witness struct {
	// Name is for operators.
	Name string
	// Key verifies cosignatures, and Vkey is its text.
	Key  note.Verifier
	Vkey string
	// URL is the submission prefix.
	URL string
}

// Parse reads a line of a policy (C2SP tlog-policy): witness <name> <vkey> <url>.
func Parse(line string) (Witness, error) {
	fields := strings.Fields(line)
	if len(fields) != 4 || fields[0] != "witness" {
		return Witness{}, errors.New("must be written as witness <name> <vkey> <url>")
	}
	w := Witness{Name: fields[1], Vkey: fields[2], URL: strings.TrimSuffix(fields[3], "/")}
	u, err := url.Parse(w.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		return Witness{}, errors.New("the URL must be http or https, with a host")
	}
	w.Key, err = NewVerifier(w.Vkey)
	return w, err
}

// String returns the line that Parse reads.
func (w Witness) String() string { return "witness " + w.Name + " " + w.Vkey + " " + w.URL }

// Response is the response of a witness.
type Response struct {
	webhook.Response
	// Cosignatures are signature lines of the witness's key, if Status is 200.
	Cosignatures string
	// Size is that of the newest checkpoint that the witness cosigned, if Status is 409.
	Size int64
}

// AddCheckpoint asks the witness to cosign a checkpoint of a log of which it has seen the first old records. proof shows that
// the checkpoint continues them. The error says that the response has not the form of its status.
func (w Witness) AddCheckpoint(ctx context.Context, s *webhook.Sender, old int64, proof tlog.TreeProof, signed []byte) (Response, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "old %d\n", old)
	for _, h := range proof {
		fmt.Fprintln(&b, h)
	}
	b.WriteByte('\n')
	b.Write(signed)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+"/add-checkpoint", &b)
	if err != nil {
		return Response{}, errors.New("the URL is invalid")
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	sent, body := s.Attempt(req)
	r := Response{Response: sent}
	switch r.Status {
	case http.StatusOK:
		r.Cosignatures, err = w.cosignatures(signed, body)
	case http.StatusConflict:
		r.Size, err = strconv.ParseInt(strings.TrimSuffix(string(body), "\n"), 10, 64)
		if err != nil || r.Size < 0 {
			err = errors.New("responded 409 without the size of its checkpoint")
		}
	}
	return r, err
}

// cosignatures returns the signature lines in lines that the key of the witness made of a checkpoint.
func (w Witness) cosignatures(signed, lines []byte) (string, error) {
	n, err := note.Open(append(bytes.Clone(signed), lines...), note.VerifierList(w.Key))
	if err != nil {
		return "", fmt.Errorf("responded 200 without a valid cosignature of its key: %w", err)
	}
	var b strings.Builder
	for _, s := range n.Sigs {
		if _, err := Timestamp(s); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "— %s %s\n", s.Name, canonical(s.Base64))
	}
	return b.String(), nil
}
