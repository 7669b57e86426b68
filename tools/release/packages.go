package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages writes the packages for Debian and rpm, which deploy/package/nfpm.yaml describes.
func (r *release) packages(p platform) error {
	text, err := os.ReadFile(filepath.Join(r.source, "deploy/package/nfpm.yaml"))
	if err != nil {
		return err
	}
	text = []byte(os.Expand(string(text), func(name string) string {
		switch name {
		case "ARCH":
			return p.arch
		case "VERSION":
			return r.version
		case "TIME":
			return r.time.Format(time.RFC3339)
		case "PROGRAM":
			return p.program
		case "WORK":
			return r.work
		case "SOURCE":
			return r.source
		}
		return "$" + name
	}))
	config, err := nfpm.Parse(bytes.NewReader(text))
	if err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm"} {
		info, err := config.Get(format)
		if err != nil {
			return err
		}
		info = nfpm.WithDefaults(info)
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := packager.Package(info, &b); err != nil {
			return fmt.Errorf("make the %s for %s: %w", format, p.arch, err)
		}
		name := r.name(p, "."+format)
		if err := os.WriteFile(filepath.Join(r.out, name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
