package main_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/programtest"
)

// TestCurlSamples runs the curl samples of /docs. The tests of the SDKs run those in TypeScript and Go.
func TestCurlSamples(t *testing.T) {
	t.Parallel()
	bash := programtest.Bash.Need(t)
	programtest.Curl.Need(t)
	binary := program(t)
	s := serve(t, binary, "--kyc=on")
	go func() { _, _ = io.Copy(io.Discard, s.otps) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	script := exec.CommandContext(ctx, bash, "docs/samples/_reference/samples.sh")
	script.Dir = "../.."
	script.Env = append(os.Environ(), "URL="+s.url, "PROGRAM="+binary, "TOUCHLINE_DATA_DIR="+filepath.Join(s.folder, "touchline-data"))
	output, err := script.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "every sample ran") {
		t.Errorf("the samples failed: %v\n%s", err, output)
	}
}
