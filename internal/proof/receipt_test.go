package proof_test

import (
	"bytes"
	"crypto/ed25519"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

var guardian = actor.Actor{AccountID: "guardian", Role: actor.Guardian}

// receipt returns the receipt of the newest record in a log of n.
func receipt(t testing.TB, f *fixture, n int) proof.Receipt {
	t.Helper()
	f.record(n)
	list, err := f.Receipts(bg, guardian, "", 1)
	ok(t, err)
	r, err := f.Receipt(bg, guardian, list[0].Body.RecordID)
	ok(t, err)
	return r
}

// TestReceipt: a receipt verifies with the key alone, with all or some of its disclosures, and also after the record is erased.
func TestReceipt(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		r := receipt(t, f, 3)
		text := r.Encode()
		f.run(`DELETE FROM record_keys`)
		again, err := proof.ParseReceipt(text)
		ok(t, err)
		if !bytes.Equal(again.Encode(), text) {
			t.Error("a receipt has two forms")
		}
		v, err := again.Verify(f.verifier(origin))
		ok(t, err)
		if v.Index != 2 || v.Checkpoint.Size != 3 || v.Claims["student_name"] != "Child 2" || v.Claims["party_phone"] != "+919800000001" {
			t.Errorf("verified %+v", v)
		}
		for _, want := range []string{
			"Someone who received a code at +919800000001, which the coach Ravi Kumar gave, pressed yes at", "60 seconds before", "Child 2, born 2014-05-06", "record 2 of the log " + origin,
			"It does not prove:\n  who that person is, that the person is a parent or an adult, or that the person understood the question.",
		} {
			if !strings.Contains(v.Explain(), want) {
				t.Errorf("the explanation has no %q:\n%s", want, v.Explain())
			}
		}
		less := again.Without("student_name", "student_birth_date", "party_phone")
		v, err = less.Verify(f.verifier(origin))
		if err != nil || len(v.Claims) != len(again.Disclosures)-3 || len(less.Disclosures) != len(v.Claims) {
			t.Errorf("with fewer disclosures: %v, %v", v.Claims, err)
		}
		if !strings.Contains(v.Explain(), "a number that this copy does not show") {
			t.Errorf("explanation:\n%s", v.Explain())
		}
		if _, err := f.Receipt(bg, actor.Actor{AccountID: "other"}, v.Body.RecordID); err == nil {
			t.Error("the receipt of another account was read")
		}
	})
}

// TestReceiptAltered: a receipt in which any byte is changed, removed or added is refused with a reason.
func TestReceiptAltered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, storetest.SQLite(t))
	r := receipt(t, f, 5)
	text, v := r.Encode(), f.verifier(origin)
	refused := func(what string, altered []byte) {
		t.Helper()
		parsed, err := proof.ParseReceipt(altered)
		if err == nil {
			_, err = parsed.Verify(v)
		}
		if err == nil || err.Error() == "" {
			t.Errorf("%s: accepted", what)
		}
	}
	for i := range text {
		for _, b := range []byte{text[i] ^ 1, text[i] ^ 0x20, 'A', '\n', 0} {
			if b != text[i] {
				altered := bytes.Clone(text)
				altered[i] = b
				refused("changed "+string(text[max(0, i-10):i+1]), altered)
			}
		}
		refused("cut off", text[:i])
		refused("removed", append(bytes.Clone(text[:i]), text[i+1:]...))
	}
	refused("longer", append(bytes.Clone(text), 'x'))
	refused("two", append(bytes.Clone(text), text...))
	refused("empty", nil)
	refused("very long", bytes.Repeat([]byte("A"), 1<<20))
	other := receipt(t, f, 1)
	for what, swapped := range map[string]proof.Receipt{
		"the proof of another record":       {Body: r.Body, Disclosures: r.Disclosures, Index: r.Index, Proof: other.Proof, Checkpoint: r.Checkpoint},
		"the body of another record":        {Body: other.Body, Disclosures: other.Disclosures, Index: r.Index, Proof: r.Proof, Checkpoint: r.Checkpoint},
		"the disclosures of another record": {Body: r.Body, Disclosures: other.Disclosures, Index: r.Index, Proof: r.Proof, Checkpoint: r.Checkpoint},
		"the checkpoint of another tree":    {Body: r.Body, Disclosures: r.Disclosures, Index: r.Index, Proof: r.Proof, Checkpoint: other.Checkpoint},
		"a shorter proof":                   {Body: r.Body, Disclosures: r.Disclosures, Index: r.Index, Proof: r.Proof[:len(r.Proof)-1], Checkpoint: r.Checkpoint},
		"another position":                  {Body: r.Body, Disclosures: r.Disclosures, Index: r.Index - 1, Proof: r.Proof, Checkpoint: r.Checkpoint},
	} {
		refused(what, swapped.Encode())
	}
	// Other keys, other names.
	_, private, err := ed25519.GenerateKey(nil)
	ok(t, err)
	strange, err := note.NewEd25519VerifierKey(origin, private.Public().(ed25519.PublicKey))
	ok(t, err)
	for want, key := range map[string]string{"another key of": strange, "touchline.example/log": mustKey(t, f, "other.example/log"), "not the key of \"touchline.example/log/2\"": mustKey(t, f, origin+"/2")} {
		v, err := note.NewVerifier(key)
		ok(t, err)
		if _, err := r.Verify(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("key %s: got %v, want %s", key, err, want)
		}
	}
}

func mustKey(t *testing.T, f *fixture, name string) string {
	t.Helper()
	key, err := f.Key(name)
	ok(t, err)
	return key
}

func FuzzParseReceipt(f *testing.F) {
	r := receipt(f, newFixture(f, storetest.SQLite(f)), 2)
	f.Add(r.Encode())
	f.Add([]byte("c2sp.org/tlog-proof@v1\nextra fg==\nindex 0\n\nx\n1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := proof.ParseReceipt(text)
		if err != nil {
			return
		}
		if !bytes.Equal(r.Encode(), text) {
			t.Fatalf("two forms of one receipt:\n%q\n%q", text, r.Encode())
		}
	})
}

// TestReceipts: a party reads its receipts, and neither another party nor a coach does.
func TestReceipts(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		f.decide(f.guardian, "guardian", "approved")
		f.decide(f.student, "student", "rejected")
		items := f.guardian.Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).Items()
		if len(items) != 2 || items[0]["event"] != "approved" || items[1]["event"] != "asked" || items[0]["student_name"] == "" {
			t.Fatalf("got %v", items)
		}
		if page := f.guardian.Call(t, "GET", "/api/me/receipts?limit=1", nil).Want(t, 200); len(page.Items()) != 1 || page.String("next_cursor") == "" {
			t.Errorf("a page: %s", page.Body)
		}
		path := "/api/me/receipts/" + items[0]["record_id"].(string)
		got := f.guardian.Call(t, "GET", path, nil)
		if got.Status != 200 {
			t.Fatal(s.Log.String())
		}
		r, err := proof.ParseReceipt(got.Body)
		ok(t, err)
		if got.Header.Get("Content-Type") != proof.MediaReceipt || len(r.Disclosures) == 0 {
			t.Errorf("%v %+v", got.Header, r)
		}
		if strings.Contains(string(got.Body), "+919812380003") {
			t.Error("the guardian's receipt has the number of the student")
		}
		for _, other := range []*touchlinetest.User{f.student, s.SignIn(t, "guardian", "+919812380002")} {
			if want := map[bool]int{true: 404, false: 200}[other == f.student]; other.Call(t, "GET", path, nil).Status != want {
				t.Errorf("another session: want %d", want)
			}
		}
		f.coach.Call(t, "GET", path, nil).Want(t, 403, "role_not_allowed")
		f.coach.Call(t, "GET", "/api/me/receipts", nil).Want(t, 403, "role_not_allowed")
		f.guardian.Call(t, "GET", "/api/me/receipts/0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", nil).Want(t, 404, "not_found")
	})
}

var update = flag.Bool("write-receipt", false, "write a new receipt for the tests of the command")

// TestStoredReceipt: the receipt that the tests of touchline verify read is genuine. With -write-receipt it writes
// another one.
func TestStoredReceipt(t *testing.T) {
	const path = "../../cmd/touchline/testdata/receipt"
	if *update {
		f := newFixture(t, storetest.SQLite(t))
		ok(t, os.WriteFile(path+".tlog-proof", receipt(t, f, 3).Encode(), 0o600))
		ok(t, os.WriteFile(path+".key", []byte(mustKey(t, f, origin)+"\n"), 0o600))
	}
	text, err := os.ReadFile(path + ".tlog-proof")
	ok(t, err)
	key, err := os.ReadFile(path + ".key")
	ok(t, err)
	v, err := note.NewVerifier(strings.TrimSpace(string(key)))
	ok(t, err)
	stored, err := proof.ParseReceipt(text)
	ok(t, err)
	_, err = stored.Verify(v)
	ok(t, err)
}

// TestSignatureHasOneForm: the unused bits of the signature's last character count, too.
func TestSignatureHasOneForm(t *testing.T) {
	t.Parallel()
	f := newFixture(t, storetest.SQLite(t))
	r := receipt(t, f, 1)
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	last := len(r.Checkpoint) - len("=\n") - 1
	i := strings.IndexByte(digits, r.Checkpoint[last])
	r.Checkpoint = bytes.Clone(r.Checkpoint)
	r.Checkpoint[last] = digits[i^1]
	if _, err := r.Verify(f.verifier(origin)); err == nil || !strings.Contains(err.Error(), "base64") {
		t.Errorf("another form of the signature: got %v", err)
	}
}

// TestReceiptOnPages: after an answer on a page the family saves a receipt, also later from the page of the player.
func TestReceiptOnPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	f := newFamily(t, s)
	f.decide(f.guardian, "guardian", "approved")
	s.Clock.Skip(time.Minute)
	b, sent := s.Browser(t), s.Sent("+919812380002", "otp")
	b.Open("/me/guardian/players/" + f.player)
	b.Press("Send me a code", "number", "+919812380002")
	page := b.Press("Continue", "code", s.OTP("+919812380002", sent))
	if page.Status != 200 {
		t.Fatal(page.Status, page.Text())
	}
	for _, path := range []string{"/me/guardian/players/" + f.player, "/me/guardian/players/" + f.player + "/done"} {
		link := receiptLink.FindString(b.Open(path).Body)
		r, err := proof.ParseReceipt([]byte(b.Open(link).Body))
		if err != nil || r.Index != 2 {
			t.Errorf("%s: link %q, %+v, %v", path, link, r, err)
		}
	}
	if got := b.Open("/me/guardian/receipts/0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21").Status; got != 404 {
		t.Errorf("a missing receipt: got %d", got)
	}
}

var receiptLink = regexp.MustCompile(`/me/guardian/receipts/[0-9a-f-]+`)
