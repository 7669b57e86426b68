package server_test

import (
	"bytes"
	"testing"

	"filippo.io/age"

	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestVerificationExportsNothing: the metrics of a restored copy would look like those of the service. It is not parallel, because
// the exporter reads the environment.
func TestVerificationExportsNothing(t *testing.T) {
	s := touchlinetest.New(t, storetest.EmptySQLite(t))
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	var backup bytes.Buffer
	if _, err := server.Backup(t.Context(), s.Config, server.Options{}, &backup, nil, id.Recipient()); err != nil {
		t.Fatal(err)
	}
	a, err := server.OpenBackup(&backup, id)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	v, err := server.VerifyBackup(t.Context(), s.Config, server.Options{Now: s.Clock.Now}, a)
	if err != nil || len(v.Findings) > 0 {
		t.Errorf("findings %q, %v", v.Findings, err)
	}
	if len(c.spans) > 0 {
		t.Errorf("the collector has %d spans", len(c.spans))
	}
}
