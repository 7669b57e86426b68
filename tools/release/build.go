package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// buildAll builds the program for each platform, and reads the version from one that runs here.
func (r *release) buildAll(ctx context.Context, names []string) ([]platform, error) {
	var targets []platform
	for _, name := range names {
		system, arch, ok := strings.Cut(name, "/")
		if !ok {
			return nil, fmt.Errorf("platform %q is not system/architecture", name)
		}
		p, err := r.build(ctx, system, arch)
		if err != nil {
			return nil, err
		}
		targets = append(targets, p)
	}
	native, err := r.native(ctx, targets)
	if err != nil {
		return nil, err
	}
	line, err := r.output(ctx, native.program, "version")
	if err != nil {
		return nil, err
	}
	version, _, ok := strings.Cut(strings.TrimPrefix(line, "touchline "), ",")
	if !ok {
		return nil, fmt.Errorf("read the version from %q", line)
	}
	r.version = version
	return targets, nil
}

// build builds the program with the flags of .ci/run. The settings of the caller must not change it.
func (r *release) build(ctx context.Context, system, arch string) (platform, error) {
	p := platform{system: system, arch: arch, program: filepath.Join(r.work, system+"_"+arch, "touchline")}
	if system == "windows" {
		p.program += ".exe"
	}
	flags := "-s -w -buildid= -X github.com/touchline/touchline/internal/platform/buildinfo.commit=" + r.commit
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags="+flags, "-o", p.program, "./cmd/touchline")
	c.Dir = r.source
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off")
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return p, fmt.Errorf("build for %s/%s: %w", system, arch, err)
	}
	return p, nil
}

// native returns a program that runs here.
func (r *release) native(ctx context.Context, targets []platform) (platform, error) {
	for _, p := range targets {
		if p.system == runtime.GOOS && p.arch == runtime.GOARCH {
			return p, nil
		}
	}
	return r.build(ctx, runtime.GOOS, runtime.GOARCH)
}

// document writes the manual pages and the completions of shells into the folder for files that are needed meanwhile.
func (r *release) document(ctx context.Context, targets []platform) error {
	native, err := r.native(ctx, targets)
	if err != nil {
		return err
	}
	pages := filepath.Join(r.work, "man")
	if _, err := r.output(ctx, native.program, "manual", pages, "--date", r.time.Format(time.DateOnly)); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(pages, "*.1"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name+".gz", compress(text), 0o644); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(r.work, "completion"), 0o755); err != nil {
		return err
	}
	for shell, name := range map[string]string{"bash": "touchline.bash", "zsh": "_touchline", "fish": "touchline.fish", "powershell": "touchline.ps1"} {
		text, err := r.output(ctx, native.program, "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.work, "completion", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compress returns the text in gzip's format, without a time.
func compress(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// output runs a program in the folder of the repository and returns what it prints.
func (r *release) output(ctx context.Context, program string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Stderr = r.source, os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", filepath.Base(program), strings.Join(args, " "), err)
	}
	return string(out), nil
}
