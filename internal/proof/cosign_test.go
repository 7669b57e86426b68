package proof_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/platform/witness"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/store/storetest"
)

// testWitness is a witness as tlog-witness describes it.
type testWitness struct {
	witness.Witness
	private  ed25519.PrivateKey
	hash     []byte
	mu       sync.Mutex
	known    map[string]proof.Checkpoint // by origin
	verifier func(origin string) note.Verifier
	statuses []int
	broken   int           // status of the next responses; 0 works
	hang     chan struct{} // if it is not nil, responses send to it, and wait then until it is closed
}

func newWitness(f *fixture, name string) *testWitness {
	w := &testWitness{known: map[string]proof.Checkpoint{}, verifier: f.verifier}
	_, w.private, _ = ed25519.GenerateKey(nil)
	key := append([]byte{4}, w.private.Public().(ed25519.PublicKey)...)
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	w.hash = sum[:4]
	server := httptest.NewServer(http.HandlerFunc(w.serve))
	f.Cleanup(server.Close)
	parsed, err := witness.Parse("witness " + name + " " + name + "+" + hex.EncodeToString(w.hash) + "+" + base64.StdEncoding.EncodeToString(key) + " " + server.URL + "/")
	ok(f, err)
	w.Witness = parsed
	return w
}

func (w *testWitness) serve(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	hang := w.hang
	w.mu.Unlock()
	if hang != nil {
		hang <- struct{}{}
		<-hang
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	status, response := w.add(string(body))
	if r.Method != http.MethodPost || r.URL.Path != "/add-checkpoint" {
		status = http.StatusBadRequest
	}
	if w.broken != 0 {
		status = w.broken
	}
	w.statuses = append(w.statuses, status)
	out.WriteHeader(status)
	_, _ = io.WriteString(out, response)
}

// add is add-checkpoint.
func (w *testWitness) add(request string) (status int, response string) {
	head, signed, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(head, "\n")
	old, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "old "), 10, 64)
	origin, _, _ := strings.Cut(signed, "\n")
	c, openErr := proof.OpenCheckpoint([]byte(signed), w.verifier(origin))
	if err != nil || openErr != nil || w.broken != 0 {
		return http.StatusForbidden, ""
	}
	var hashes tlog.TreeProof
	for _, line := range lines[1:] {
		h, err := tlog.ParseHash(line)
		if err != nil {
			return http.StatusBadRequest, ""
		}
		hashes = append(hashes, h)
	}
	known := w.known[origin]
	switch {
	case old > c.Size:
		return http.StatusBadRequest, ""
	case old != known.Size:
		return http.StatusConflict, fmt.Sprintln(known.Size)
	case old == 0 && len(hashes) > 0, old > 0 && tlog.CheckTree(hashes, c.Size, c.Root, old, known.Root) != nil:
		return http.StatusUnprocessableEntity, ""
	}
	w.known[origin] = c
	at := uint64(time.Now().Unix())
	text, _, _ := strings.Cut(signed, "\n\n")
	signature := ed25519.Sign(w.private, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s\n", at, text))
	line := base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(append([]byte{}, w.hash...), at), signature...))
	return http.StatusOK, fmt.Sprintf("— other.example/w AAAAAAAA\n— %s %s\n", w.Name, line)
}

// got returns the statuses of the responses since the last call.
func (w *testWitness) got() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	statuses := w.statuses
	w.statuses = nil
	return fmt.Sprint(statuses)
}

func (w *testWitness) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// newest returns the receipt of the newest record.
func (f *fixture) newest() proof.Receipt {
	f.Helper()
	list, err := f.Receipts(bg, guardian, "", 1)
	ok(f, err)
	r, err := f.Receipt(bg, guardian, list[0].Body.RecordID)
	ok(f, err)
	return r
}

// signers returns the witnesses that cosigned the checkpoint of the newest receipt, and its size.
func (f *fixture) signers(known ...*testWitness) (names string, size int64) {
	f.Helper()
	var keys []note.Verifier
	for _, w := range known {
		keys = append(keys, w.Key)
	}
	v, err := f.newest().Verify(f.verifier(origin), keys...)
	ok(f, err)
	for _, c := range v.Witnesses {
		if !c.At.IsZero() {
			names += c.Name + " "
		}
	}
	return strings.TrimSpace(names), v.Checkpoint.Size
}

func (f *fixture) number(n int) {
	f.Helper()
	f.record(n)
	ok(f, f.Work(bg))
}

func (f *fixture) publishAll() {
	f.Helper()
	if failures := publish(f.Service); failures != nil {
		f.Error(failures)
	}
}

// publish asks all witnesses of a service once, and returns their errors.
func publish(s *proof.Service) (failures []string) {
	for _, job := range s.Publications() {
		if err := job(bg); err != nil {
			failures = append(failures, err.Error())
		}
	}
	return failures
}

// signed returns the newest checkpoint as the log serves it.
func (f *fixture) signed() string {
	f.Helper()
	c, err := f.Checkpoint(bg)
	ok(f, err)
	return string(c)
}

// TestWitness: witnesses cosign the checkpoint of a log that grows, the served checkpoint and receipts have the cosignatures,
// and a receipt says which witnesses signed.
func TestWitness(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		one, two, strange := newWitness(f, "one.example/w"), newWitness(f, "two.example/w"), newWitness(f, "strange.example/w")
		f.Witnesses = []witness.Witness{one.Witness, two.Witness}
		f.publishAll()
		f.number(3)
		if names, _ := f.signers(one, two); names != "" {
			t.Errorf("before: %s", names)
		}
		f.publishAll()
		if names, size := f.signers(one, two, strange); names != "one.example/w two.example/w" || size != 3 || one.got() != "[200]" {
			t.Errorf("cosigned by %s, %d records", names, size)
		}
		if c := f.signed(); strings.Count(c, "\n— ") != 3 || !strings.Contains(c, "\n— two.example/w ") {
			t.Errorf("served:\n%s", c)
		}
		f.ahead.Add(int64(time.Minute))
		if c := f.signed(); strings.Count(c, "\n— ") != 3 {
			t.Errorf("served a minute later:\n%s", c)
		}
		f.ahead.Add(-int64(time.Minute))
		v, err := f.newest().Verify(f.verifier(origin), one.Key, strange.Key)
		ok(t, err)
		for _, want := range []string{"The witness one.example/w signed this state of the log at 20", "The witness strange.example/w did not sign"} {
			if !strings.Contains(v.Explain(), want) {
				t.Errorf("the explanation has no %q:\n%s", want, v.Explain())
			}
		}
		// Under load the cosigned checkpoint is served, and a receipt has it if it has the record.
		f.number(700)
		f.publishAll()
		if c := f.signed(); !strings.HasPrefix(c, origin+"\n3\n") {
			t.Errorf("served:\n%s", c)
		}
		if names, size := f.signers(one, two); names != "" || size != 703 {
			t.Errorf("a receipt of a record that is not in the cosigned checkpoint: %s, %d", names, size)
		}
		f.ahead.Add(int64(publishEvery))
		f.number(1)
		jobs := f.Publications()
		ok(t, jobs[0](bg))
		f.number(1) // the second witness gets the checkpoint that the first one got
		ok(t, jobs[1](bg))
		if names, size := f.signers(one, two); names != "" || size != 705 {
			t.Errorf("a receipt of a record that is not in the cosigned checkpoint: %s, %d", names, size)
		}
		if c := f.signed(); !strings.HasPrefix(c, origin+"\n704\n") || strings.Count(c, "\n— ") != 3 {
			t.Errorf("served:\n%s", c)
		}
		f.ahead.Add(int64(publishEvery))
		f.publishAll()
		if names, size := f.signers(one, two); names != "one.example/w two.example/w" || size != 705 || one.got() != "[200 200]" {
			t.Errorf("cosigned by %s, %d records", names, size)
		}
		// The size that the witness has is not known after its row was lost.
		f.run(`DELETE FROM log_destinations`)
		f.run(`DELETE FROM log_cosignatures`)
		f.number(5)
		f.ahead.Add(int64(publishEvery))
		f.publishAll()
		if names, size := f.signers(one, two); names != "one.example/w two.example/w" || size != 710 || one.got() != "[409 200]" || f.stopped {
			t.Errorf("cosigned by %s, %d records", names, size)
		}
		// After an hour the same checkpoint again, with a later time.
		f.ahead.Add(int64(time.Hour))
		f.publishAll()
		if got := one.got(); got != "[200]" || f.count(`SELECT count(*) FROM log_cosignatures`) != 2 {
			t.Errorf("after an hour: %s, %d rows", got, f.count(`SELECT count(*) FROM log_cosignatures`))
		}
		f.Witnesses = f.Witnesses[1:]
		if names, _ := f.signers(one, two); names != "two.example/w" {
			t.Errorf("after the removal of a witness: %s", names)
		}
	})
}

// TestWitnessDown: a witness that hangs or is down delays neither the log, nor receipts, nor another witness.
func TestWitnessDown(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		slow, down, works := newWitness(f, "slow.example/w"), newWitness(f, "down.example/w"), newWitness(f, "works.example/w")
		slow.hang, down.broken = make(chan struct{}), http.StatusServiceUnavailable
		f.Witnesses = []witness.Witness{slow.Witness, down.Witness, works.Witness}
		jobs := f.Publications()
		f.number(2)
		var hanging sync.WaitGroup
		hanging.Go(func() {
			if err := jobs[0](bg); err != nil {
				t.Error(err)
			}
		})
		<-slow.hang // the first job has chosen the checkpoint
		if err := jobs[1](bg); err == nil || !strings.Contains(err.Error(), "down.example/w has accepted no checkpoint since") || !strings.Contains(err.Error(), "responded 503") {
			t.Errorf("down: %v", err)
		}
		ok(t, jobs[2](bg))
		if names, size := f.signers(slow, down, works); names != "works.example/w" || size != 2 {
			t.Errorf("cosigned by %s, %d records", names, size)
		}
		f.number(2)
		if c := f.checkpoint(origin); c.Size != 4 {
			t.Errorf("the log has %d records, want 4", c.Size)
		}
		close(slow.hang)
		hanging.Wait()
		slow.set(func() { slow.hang = nil })
		down.set(func() { down.broken = 0 })
		f.ahead.Add(int64(publishEvery + time.Second))
		f.publishAll()
		if names, size := f.signers(slow, down, works); names != "slow.example/w down.example/w works.example/w" || size != 4 || f.stopped {
			t.Errorf("recovered: cosigned by %s, %d records", names, size)
		}
	})
}

// TestWitnessOfNewerLog: a witness that has seen a later or another log than the database stops the log.
func TestWitnessOfNewerLog(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after  int  // records after the restore
		row    bool // the row of the witness was not restored
		reason string
	}{
		"larger":       {1, false, "has cosigned 320 records, the database has 301"},
		"larger row":   {1, true, "has cosigned 320 records, the database has 301"},
		"another tree": {40, false, "the first 320 records are not those that the witness one.example/w has cosigned"},
		"same size":    {20, false, "the first 320 records are not those"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Either(t, func(t *testing.T, url string) {
				f := newFixture(t, url)
				w := newWitness(f, "one.example/w")
				f.File = ""
				f.Witnesses = []witness.Witness{w.Witness}
				f.number(300)
				f.publishAll()
				f.keep()
				f.ahead.Add(int64(publishEvery))
				f.number(20)
				f.publishAll()
				f.restore()
				if !tt.row {
					f.run(`UPDATE log_destinations SET published = $1`, f.old)
				}
				f.Service = f.service("")
				f.Witnesses = []witness.Witness{w.Witness}
				f.ahead.Add(int64(publishEvery))
				f.number(tt.after)
				publish(f.Service)
				publish(f.Service)
				if !f.stopped || len(f.events) != 1 || !strings.Contains(f.events[0], tt.reason) {
					t.Fatalf("stopped %t, %v, want %s", f.stopped, f.events, tt.reason)
				}
				f.number(1)
				if n := f.count(`SELECT count(*) FROM consent_records WHERE position IS NULL`); n != 1 {
					t.Errorf("%d records wait, want 1", n)
				}
				// The witness knows nothing of the log under its new name.
				_, err := f.Continue(bg, by)
				ok(t, err)
				ok(t, f.Work(bg))
				f.ahead.Add(int64(time.Hour))
				f.publishAll()
				if c := f.signed(); f.stopped || !strings.HasPrefix(c, origin+"/2\n") || !strings.Contains(c, "\n— one.example/w ") {
					t.Errorf("continued: stopped %t, served\n%s", f.stopped, c)
				}
			})
		})
	}
}

// TestReplicasCosignOnce: replicas ask a witness once for each checkpoint.
func TestReplicasCosignOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		w := newWitness(f, "one.example/w")
		replicas := []*proof.Service{f.Service, f.service(""), f.service("")}
		for _, r := range replicas {
			r.Witnesses = []witness.Witness{w.Witness}
		}
		for range 4 {
			f.number(3)
			var all sync.WaitGroup
			for _, r := range replicas {
				all.Go(func() {
					for range 3 {
						if failures := publish(r); failures != nil {
							t.Error(failures)
						}
					}
				})
			}
			all.Wait()
			f.ahead.Add(int64(publishEvery + time.Second))
		}
		if got := w.got(); got != "[200 200 200 200]" {
			t.Errorf("got %s", got)
		}
	})
}

// TestCosignatureAltered: a changed cosignature of a known witness is refused; the line of an unknown key is ignored. A
// cosignature replaces no signature of the log.
func TestCosignatureAltered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, storetest.SQLite(t))
	w := newWitness(f, "one.example/w")
	f.Witnesses = []witness.Witness{w.Witness}
	f.number(2)
	f.publishAll()
	r, key := f.newest(), f.verifier(origin)
	text := string(r.Checkpoint)
	at := strings.Index(text, "— one.example/w ") + len("— one.example/w ") + 20
	changed := map[byte]string{'A': "B"}[text[at]]
	if changed == "" {
		changed = "A"
	}
	r.Checkpoint = []byte(text[:at] + changed + text[at+1:])
	if _, err := r.Verify(key, w.Key); err == nil || !strings.Contains(err.Error(), "the cosignature of the witness one.example/w is wrong") {
		t.Errorf("altered: %v", err)
	}
	if _, err := r.Verify(key); err != nil {
		t.Errorf("without the key of the witness: %v", err)
	}
	body, _, _ := strings.Cut(text, "\n— "+origin)
	_, line, _ := strings.Cut(text, "\n— one.example/w ")
	r.Checkpoint = []byte(body + "\n— one.example/w " + line)
	if _, err := r.Verify(key, w.Key); err == nil {
		t.Error("a cosignature alone was accepted")
	}
	if _, err := proof.OpenCheckpoint([]byte(text), key); err != nil {
		t.Errorf("a copy with cosignatures for an audit: %v", err)
	}
}

const publishEvery = 10 * time.Second
