package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

const (
	noticesName = "THIRD-PARTY-NOTICES.txt"
	noAssertion = "NOASSERTION"
	// scalarFolder has the browser build of an npm package, which the program embeds.
	scalarFolder = "internal/platform/apidocs/scalar"
)

// component is a module in the program, the standard library, or an npm package in the program.
type component struct {
	name, version string
	license       string // identifiers of SPDX, or NOASSERTION
	text          string // of its licences and notices
}

// componentsOf returns the standard library, Scalar, and the modules of the program p, with the texts that licences ask to pass on.
func (r *release) componentsOf(ctx context.Context, p platform) ([]component, error) {
	program, err := os.ReadFile(p.program)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	// runtime.GOROOT is empty in a program that was built with -trimpath.
	goroot, err := r.output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	std, err := readComponent("stdlib", strings.TrimPrefix(info.GoVersion, "go"), strings.TrimSpace(goroot))
	if err != nil {
		return nil, err
	}
	archives, err := filepath.Glob(filepath.Join(r.source, scalarFolder, "scalar-*.zip"))
	if err != nil || len(archives) != 1 {
		return nil, fmt.Errorf("find the archive of Scalar in %s: %v, %w", scalarFolder, archives, err)
	}
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(archives[0]), "scalar-"), ".zip")
	scalar, err := readComponent("@scalar/api-reference", version, filepath.Join(r.source, scalarFolder))
	if err != nil {
		return nil, err
	}
	all := []component{std, scalar}
	for _, m := range info.Deps {
		folder, err := r.output(ctx, "go", "list", "-m", "-f", "{{.Dir}}", m.Path)
		if err != nil {
			return nil, err
		}
		c, err := readComponent(m.Path, m.Version, strings.TrimSpace(folder))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// readComponent reads the licences and notices at the root of a module. Every module must have a licence.
func readComponent(name, version, folder string) (component, error) {
	c := component{name: name, version: version}
	entries, err := os.ReadDir(folder) // sorted
	if err != nil {
		return c, err
	}
	var found []string
	for _, e := range entries {
		base := strings.ToUpper(strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
		if e.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS", "LICENSE-MIT", "LICENSE-APACHE", "LICENSE-3RD-PARTY", "UNLICENSE"}, base) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return c, err
		}
		c.text += strings.TrimSpace(string(text)) + "\n\n"
		if base == "NOTICE" || base == "PATENTS" {
			continue // no licence
		}
		for _, m := range licensecheck.Scan(text).Match {
			if !m.IsURL && !slices.Contains(found, m.ID) {
				found = append(found, m.ID)
			}
		}
	}
	if c.text == "" {
		return c, fmt.Errorf("%s %s has no licence in %s", name, version, folder)
	}
	if c.license = noAssertion; len(found) > 0 {
		c.license = strings.Join(found, " AND ")
	}
	return c, nil
}

// notices returns the file of the texts of all components.
func notices(all []component) []byte {
	var b bytes.Buffer
	b.WriteString("Touchline contains the software below. The licence of Touchline is Apache-2.0.\n")
	for _, c := range all {
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n\n%s", strings.Repeat("-", 80), c.name, c.version, c.license, c.text)
	}
	return b.Bytes()
}

// debianChangelog returns the changelog that Debian's policy asks for. What changed is in CHANGELOG.md.
func (r *release) debianChangelog() []byte {
	return fmt.Appendf(nil, "touchline (%s) unstable; urgency=medium\n\n  * CHANGELOG.md says what changed.\n\n -- The Touchline authors <touchline@users.noreply.github.com>  %s\n",
		r.version, r.time.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
}
