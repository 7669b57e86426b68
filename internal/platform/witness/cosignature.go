package witness

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/mod/sumdb/note"
)

// ed25519Cosignature is the type of keys of timestamped Ed25519 cosignatures, version 1.
const ed25519Cosignature = 4

// verifier verifies timestamped Ed25519 cosignatures. It is a note.Verifier.
type verifier struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (v verifier) Name() string    { return v.name }
func (v verifier) KeyHash() uint32 { return v.hash }

// Verify reports whether sig, a time and a signature, is of the text of a checkpoint.
func (v verifier) Verify(text, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	message := fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", binary.BigEndian.Uint64(sig), text)
	return ed25519.Verify(v.key, message, sig[8:])
}

// NewVerifier returns the verifier of a vkey, <name>+<hash>+<base64>, of type 4. note.NewVerifier knows only type 1.
func NewVerifier(vkey string) (note.Verifier, error) {
	name, rest, _ := strings.Cut(vkey, "+")
	hex, text, _ := strings.Cut(rest, "+")
	hash, err := strconv.ParseUint(hex, 16, 32)
	key, keyErr := base64.StdEncoding.DecodeString(text)
	if err != nil || keyErr != nil || len(hex) != 8 || name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
		return nil, errors.New("the key of a witness is written as name+hash+base64")
	}
	if len(key) != 1+ed25519.PublicKeySize || key[0] != ed25519Cosignature {
		return nil, errors.New("the key of a witness must be for Ed25519 cosignatures (type 4)")
	}
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	if binary.BigEndian.Uint32(sum[:]) != uint32(hash) {
		return nil, errors.New("the hash in the key of the witness is not the one of its name and key")
	}
	return verifier{name, uint32(hash), key[1:]}, nil
}

// Timestamp returns when a witness made a cosignature.
func Timestamp(s note.Signature) (time.Time, error) {
	raw, err := base64.StdEncoding.DecodeString(s.Base64)
	if err != nil || len(raw) < 12 {
		return time.Time{}, errors.New("the cosignature is cut off")
	}
	seconds := binary.BigEndian.Uint64(raw[4:])
	if seconds == 0 || seconds > math.MaxInt64 {
		return time.Time{}, errors.New("the cosignature has no time")
	}
	return time.Unix(int64(seconds), 0).UTC(), nil
}

// canonical returns text with unused bits of zero.
func canonical(text string) string {
	raw, _ := base64.StdEncoding.DecodeString(text)
	return base64.StdEncoding.EncodeToString(raw)
}
