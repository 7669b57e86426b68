package touchline_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSamples runs the Go samples of the reference at /docs.
func TestSamples(t *testing.T) {
	certificate, err := filepath.Abs("../../docs/samples/certificate.pdf")
	if err != nil {
		t.Fatal(err)
	}
	s := startService(t, "TOUCHLINE_KYC=on")
	samples := exec.CommandContext(t.Context(), "go", "run", "../../docs/samples/_reference/samples.go")
	program := s.Command()
	samples.Env = append(program.Env, "URL="+s.url, "PROGRAM="+program.Path, "CERTIFICATE="+certificate)
	if output, err := samples.CombinedOutput(); err != nil || !strings.Contains(string(output), "every sample ran") {
		t.Errorf("the samples failed: %v\n%s", err, output)
	}
}
