package proof_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/store/storetest"
)

// verifies verifies a receipt, with its values and without them.
func verifies(text []byte, key note.Verifier) error {
	receipt, err := proof.ParseReceipt(text)
	if err != nil {
		return err
	}
	_, err = receipt.Verify(key)
	receipt.Disclosures = nil
	_, bare := receipt.Verify(key)
	return errors.Join(err, bare)
}

// TestErasedProofs: whatever was recorded, read and erased in whatever order, each receipt that was read before verifies with the key
// alone, with all or without any of its values. An erased record has no receipt, and the log contradicts nothing.
func TestErasedProofs(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		f.record(1)
		key := f.verifier(origin)
		held := map[string][]byte{} // receipts by record
		var erased []string
		records := func() (ids []string) {
			list, err := f.Receipts(bg, guardian, "", 1_000)
			ok(t, err)
			for _, r := range list {
				ids = append(ids, r.Body.RecordID)
			}
			return ids
		}
		rounds := 0
		rapid.Check(t, func(r *rapid.T) {
			if rounds++; rounds > 25 {
				return // the log of all rounds is one: more take long and show no more
			}
			f.record(rapid.IntRange(1, 4).Draw(r, "recorded"))
			ids := records()
			for _, id := range rapid.SliceOfN(rapid.SampledFrom(ids), 1, 3).Draw(r, "read") {
				receipt, err := f.Receipt(bg, guardian, id)
				ok(t, err)
				held[id] = receipt.Encode()
			}
			for _, id := range rapid.SliceOfN(rapid.SampledFrom(ids), 0, 3).Draw(r, "erased") {
				f.run(`DELETE FROM record_keys WHERE record_id = '` + id + `'`)
				erased = append(erased, id)
			}
			if id := ids[0]; slices.Contains(erased, id) {
				if _, err := f.Receipt(bg, guardian, id); fault.KindOf(err) != fault.NotFound {
					r.Errorf("the receipt of an erased record: %v", err)
				}
			}
			id := rapid.SampledFrom(slices.Sorted(maps.Keys(held))).Draw(r, "verified")
			if err := verifies(held[id], key); err != nil {
				r.Errorf("receipt of %s: %v", id, err)
			}
		})
		for id, text := range held {
			if err := verifies(text, key); err != nil {
				t.Errorf("receipt of %s, at the end: %v", id, err)
			}
		}
		if len(erased) == 0 || len(held) == 0 {
			t.Errorf("%d records were erased, %d receipts read", len(erased), len(held))
		}
		var size int64
		ok(t, f.sql.QueryRow(bg, `SELECT count(*) FROM consent_records`).Scan(&size))
		if got := f.checkpoint(origin).Size; got > size || got == 0 {
			t.Errorf("the checkpoint has %d of %d records", got, size)
		}
	})
}
