package proof

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/witness"
)

// Checkpoint is the state of a log that its key signed (C2SP tlog-checkpoint).
type Checkpoint struct {
	Origin string
	Size   int64
	Root   tlog.Hash
	// Players is how many players these records are of.
	Players int64
}

// playersLine begins the line of a checkpoint with the number of players, which the format of checkpoints calls an extension.
const playersLine = "players "

// text returns the signed text.
func (c Checkpoint) text() string {
	return fmt.Sprintf("%s\n%d\n%s\n%s%d\n", c.Origin, c.Size, c.Root, playersLine, c.Players)
}

// OpenCheckpoint returns the checkpoint of a signed note, whose key must be v.
func OpenCheckpoint(signed []byte, v note.Verifier) (Checkpoint, error) {
	n, err := note.Open(signed, note.VerifierList(v))
	if err != nil {
		unverified, ok := errors.AsType[*note.UnverifiedNoteError](err)
		if ok && len(unverified.Note.UnverifiedSigs) > 0 {
			return Checkpoint{}, otherKeyError{unverified.Note.UnverifiedSigs[0].Name, v.Name()}
		}
		return Checkpoint{}, fmt.Errorf("the signature of the checkpoint is wrong: %w", err)
	}
	for _, s := range n.Sigs { // note.Open accepts any value of the unused bits
		if _, err := decodeBase64(base64.StdEncoding, s.Base64); err != nil {
			return Checkpoint{}, errors.New("the signature of the checkpoint is not in base64")
		}
	}
	c, err := parseCheckpoint(n.Text)
	if err == nil && c.Origin != v.Name() {
		err = fmt.Errorf("the checkpoint is of the log %q, want %q", c.Origin, v.Name())
	}
	return c, err
}

// Cosigned says when a witness cosigned a checkpoint; At is zero if it did not.
type Cosigned struct {
	Name string
	At   time.Time
}

// openCosignatures returns one Cosigned for each witness. A wrong signature with the name and the hash of its key is an error.
func openCosignatures(signed []byte, witnesses []note.Verifier) (list []Cosigned, err error) {
	for _, w := range witnesses {
		c := Cosigned{Name: w.Name()}
		n, err := note.Open(signed, note.VerifierList(w))
		switch {
		case errors.As(err, new(*note.UnverifiedNoteError)):
		case err != nil:
			return nil, fmt.Errorf("the cosignature of the witness %s is wrong", w.Name())
		default:
			if c.At, err = witness.Timestamp(n.Sigs[0]); err != nil {
				return nil, fmt.Errorf("the witness %s: %w", w.Name(), err)
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// otherKeyError says that another key signed a checkpoint.
type otherKeyError struct{ signed, want string }

func (e otherKeyError) Error() string {
	if e.signed == e.want {
		return fmt.Sprintf("another key of %q signed the checkpoint", e.want)
	}
	return fmt.Sprintf("the key of %q signed the checkpoint, not the key of %q", e.signed, e.want)
}

func parseCheckpoint(text string) (c Checkpoint, err error) {
	lines := strings.SplitAfterN(text, "\n", 4) // lines after the third are extensions
	if len(lines) < 4 {
		return c, errors.New("the checkpoint has fewer than three lines")
	}
	for i := range lines[:3] {
		lines[i] = strings.TrimSuffix(lines[i], "\n")
	}
	c.Origin = lines[0]
	if c.Size, err = parseIndex(lines[1]); err != nil {
		return c, fmt.Errorf("the size of the checkpoint: %w", err)
	}
	if c.Root, err = parseHash(lines[2]); err != nil {
		return c, fmt.Errorf("the hash of the checkpoint: %w", err)
	}
	for line := range strings.SplitSeq(lines[3], "\n") {
		number, found := strings.CutPrefix(line, playersLine)
		if line == "" {
			break // signatures follow
		}
		if found {
			if c.Players, err = parseIndex(number); err != nil {
				return c, fmt.Errorf("the players of the checkpoint: %w", err)
			}
		}
	}
	return c, nil
}

// nameOf returns the name of the log of a checkpoint.
func nameOf(signed []byte) string {
	name, _, _ := strings.Cut(string(signed), "\n")
	return name
}

// sizeOf returns the size of a checkpoint that this process signed or checked.
func sizeOf(signed []byte) int64 {
	c, _ := parseCheckpoint(string(signed))
	return c.Size
}

// playersOf returns the number of players of a checkpoint that this process signed or checked.
func playersOf(signed []byte) int64 {
	c, _ := parseCheckpoint(string(signed))
	return c.Players
}

// parseIndex reads a decimal without leading zeros.
func parseIndex(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != s {
		return 0, fmt.Errorf("%.40q is no decimal number", s)
	}
	return n, nil
}

// parseHash reads a hash in its only base64 form.
func parseHash(s string) (tlog.Hash, error) {
	h, err := tlog.ParseHash(s)
	if err != nil || h.String() != s {
		return tlog.Hash{}, fmt.Errorf("%.60q is no hash in base64", s)
	}
	return h, nil
}

// signer signs checkpoints with the key of the service. It is a note.Signer.
type signer struct {
	note.Verifier
	private ed25519.PrivateKey
}

func (s signer) Sign(msg []byte) ([]byte, error) { return ed25519.Sign(s.private, msg), nil }

// signingKey returns the private key of the log. It is derived from the secret of the service, so all replicas have it.
func signingKey(secrets vault.Sealer) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(secrets.MAC([]byte("ed25519 checkpoints")))
}

// verifierKey returns the public key of a log in the form of a signed note.
func verifierKey(private ed25519.PrivateKey, origin string) (string, error) {
	return note.NewEd25519VerifierKey(origin, private.Public().(ed25519.PublicKey))
}

// newSigner returns the signer of the log with that origin.
func newSigner(private ed25519.PrivateKey, origin string) (signer, error) {
	vkey, err := verifierKey(private, origin)
	if err != nil {
		return signer{}, err
	}
	v, err := note.NewVerifier(vkey)
	return signer{v, private}, err
}

// sign returns the signed checkpoint c.
func (s signer) sign(c Checkpoint) ([]byte, error) {
	return note.Sign(&note.Note{Text: c.text()}, s)
}
