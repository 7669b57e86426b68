// Command release builds the files of a release from the commit of the work tree: archives for each platform, packages for Debian
// and rpm, an image for containers, a list of the modules of each program (SPDX), and SHA256SUMS. Two builds of a commit with the
// same version of Go have the same bytes.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// platforms are built unless -platforms names others.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// release is what all files of a release have in common.
type release struct {
	source  string // folder of the repository
	out     string // folder of the files of the release
	work    string // folder for files that are needed meanwhile
	version string
	commit  string
	time    time.Time // of the commit, and of every file
}

// platform is a system and an architecture as Go names them, with its program.
type platform struct {
	system, arch string
	program      string // path
}

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	source := flag.String("source", "../..", "folder of the repository")
	out := flag.String("out", "../../dist", "folder for the files; it is emptied first")
	names := flag.String("platforms", platforms, "platforms, separated by commas")
	flag.Parse()
	if err := run(ctx, *source, *out, strings.Split(*names, ",")); err != nil {
		log.Fatal("release: ", err)
	}
}

func run(ctx context.Context, source, out string, names []string) (err error) {
	work, err := os.MkdirTemp("", "touchline-release-")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(work)) }()
	r := &release{source: source, out: out, work: work}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	targets, err := r.buildAll(ctx, names)
	if err != nil {
		return err
	}
	if err := r.document(ctx, targets); err != nil {
		return err
	}
	var linux []platform
	for _, p := range targets {
		components, err := r.componentsOf(ctx, p)
		if err != nil {
			return err
		}
		if err := r.writeNotices(components); err != nil {
			return err
		}
		if err := errors.Join(r.archive(p), r.modules(p, components)); err != nil {
			return err
		}
		if p.system == "linux" {
			linux = append(linux, p)
			if err := r.packages(p); err != nil {
				return err
			}
		}
	}
	if len(linux) > 0 {
		if err := r.image(linux); err != nil {
			return err
		}
	}
	return r.sums()
}

// prepare empties the folder of the release and reads the commit.
func (r *release) prepare(ctx context.Context) error {
	for _, path := range []*string{&r.source, &r.out} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	line, err := r.output(ctx, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	var seconds int64
	if _, err := fmt.Sscan(line, &r.commit, &seconds); err != nil {
		return fmt.Errorf("read the commit from %q: %w", line, err)
	}
	r.time = time.Unix(seconds, 0).UTC()
	changed, err := r.output(ctx, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	r.commit = r.commit[:12]
	if changed != "" {
		r.commit += "-modified"
	}
	return nil
}

// writeNotices writes the files that the archives, the packages and the image of one platform have beside the program.
func (r *release) writeNotices(components []component) error {
	return errors.Join(
		os.WriteFile(filepath.Join(r.work, noticesName), notices(components), 0o644),
		os.WriteFile(filepath.Join(r.work, "changelog.gz"), compress(r.debianChangelog()), 0o644),
	)
}

// name returns the name of a file of the release.
func (r *release) name(p platform, end string) string {
	system := p.system
	if system == "darwin" {
		system = "macos"
	}
	return fmt.Sprintf("touchline_%s_%s_%s%s", r.version, system, p.arch, end)
}

// sums writes SHA256SUMS.
func (r *release) sums() error {
	files, err := os.ReadDir(r.out) // sorted
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), f.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(lines.String()), 0o644)
}
