package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/touchline/touchline/internal/platform/witness"
	"github.com/touchline/touchline/internal/proof"
)

// maxFile limits a receipt or key that is read, in bytes.
const maxFile = 1 << 20

// verifyCommand returns the command that verifies receipts. It needs neither settings nor a database.
func verifyCommand() *cobra.Command {
	var key string
	var without, witnesses []string
	c := withJSON(&cobra.Command{
		Use: "verify <receipt.tlog-proof>", Short: "verify a receipt and say what it proves", Args: cobra.ExactArgs(1),
		Long: `Verify a receipt of a consent, also on a machine that has never seen the service. "-" reads the
standard input. --key is the public key of the log, or a file with it; "touchline admin log key" and the
page /verify of the service show it: compare it with one from another source.

With --witness, which can be repeated, the command says which of these witnesses have cosigned the checkpoint: they have seen
no other history of the log. The value is the key of a witness, or a file with it.

With --without the command prints the receipt without these values, for somebody who should see less.`,
		RunE: func(c *cobra.Command, args []string) error {
			if key == "" {
				return fmt.Errorf("--key is needed: the public key of the log, or a file with it")
			}
			text, err := readFile(c.InOrStdin(), args[0])
			if err != nil {
				return failed(err)
			}
			v, err := readKey("--key", key, note.NewVerifier)
			if err != nil {
				return failed(err)
			}
			var known []note.Verifier
			for _, w := range witnesses {
				k, err := readKey("--witness", w, witness.NewVerifier)
				if err != nil {
					return failed(err)
				}
				known = append(known, k)
			}
			r, err := proof.ParseReceipt(text)
			if err != nil {
				return failed(checkError{fmt.Errorf("this is not a receipt, or it was changed: %w", err)})
			}
			verified, err := r.Verify(v, known...)
			if err != nil {
				return failed(checkError{fmt.Errorf("this receipt proves nothing: %w", err)})
			}
			if len(without) > 0 {
				_, err := c.OutOrStdout().Write(r.Without(without...).Encode())
				return failed(err)
			}
			return failed(printResult(c, verifiedJSON(verified), func(w io.Writer) error {
				_, err := io.WriteString(w, verified.Explain())
				return err
			}))
		},
	})
	c.Flags().StringVar(&key, "key", "", "public key of the log, or a file with it")
	c.Flags().StringArrayVar(&witnesses, "witness", nil, "public key of a witness, or a file with it; can be repeated")
	c.Flags().StringSliceVar(&without, "without", nil, "names of values, separated by commas, to leave out of a copy, such as student_birth_date,party_phone")
	return c
}

func verifiedJSON(v proof.Verified) any {
	type cosigned struct {
		Name string `json:"name"`
		// CosignedAt is null if the witness did not cosign the checkpoint.
		CosignedAt *time.Time `json:"cosigned_at"`
	}
	list := []cosigned{}
	for _, w := range v.Witnesses {
		c := cosigned{Name: w.Name}
		if !w.At.IsZero() {
			c.CosignedAt = &w.At
		}
		list = append(list, c)
	}
	return map[string]any{
		"body": v.Body, "claims": v.Claims, "shown": v.Claims.Shown(), "index": v.Index, "witnesses": list,
		"checkpoint": map[string]any{"origin": v.Checkpoint.Origin, "size": v.Checkpoint.Size, "root": v.Checkpoint.Root.String()},
	}
}

// readFile reads a file, or stdin for "-"; nil is no stdin.
func readFile(stdin io.Reader, name string) ([]byte, error) {
	if name == "-" && stdin != nil {
		return io.ReadAll(io.LimitReader(stdin, maxFile))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// readKey returns the verifier of a key, or of the key in a file. flag is for errors.
func readKey(flag, key string, parse func(string) (note.Verifier, error)) (note.Verifier, error) {
	v, invalid := parse(key)
	if invalid == nil {
		return v, nil
	}
	text, err := readFile(nil, key)
	if err != nil {
		return nil, fmt.Errorf("%s is neither a key (%w) nor a file: %w", flag, invalid, err)
	}
	v, err = parse(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s has no key (name+hash+base64): %w", key, err)
	}
	return v, nil
}
