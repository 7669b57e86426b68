package store_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Of concurrent replicas one claims a missing entry, until its claim ends or the entry is saved.
func TestTLSEntries(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		claim := func(want int) {
			p.Helper()
			var claimed atomic.Int64
			var wait sync.WaitGroup
			for range 8 {
				wait.Go(func() {
					is, err := p.tlsEntries().Claim(bg, "t.example", p.clock.Now().Add(time.Minute))
					if err != nil {
						p.Errorf("claim: %v", err)
					}
					if is {
						claimed.Add(1)
					}
				})
			}
			if wait.Wait(); int(claimed.Load()) != want {
				p.Errorf("%d replicas claimed the entry, want %d", claimed.Load(), want)
			}
		}
		wantEntry := func(want []byte) {
			p.Helper()
			if got, err := p.tlsEntries().Entry(bg, "t.example"); err != nil || !bytes.Equal(got, want) {
				p.Errorf("TLSEntry = %q, %v; want %q", got, err, want)
			}
		}
		wantEntry(nil)
		claim(1)
		claim(0)
		wantEntry(nil)
		p.clock.advance(time.Minute)
		claim(1)
		ok(p, p.tlsEntries().Save(bg, "t.example", []byte("key")))
		wantEntry([]byte("key"))
		ok(p, p.tlsEntries().Save(bg, "t.example", []byte("renewed")))
		p.clock.advance(time.Hour)
		claim(0)
		wantEntry([]byte("renewed"))
		if n := p.count(`SELECT count(*) FROM tls_entries WHERE sealed = $1`, []byte("renewed")); n != 0 {
			p.Errorf("the entry is not sealed")
		}
		ok(p, p.tlsEntries().Delete(bg, "t.example"))
		claim(1)
	})
}
