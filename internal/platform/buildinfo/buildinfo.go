// Package buildinfo says which release and which commit a program was built from.
package buildinfo

import (
	"cmp"
	"fmt"
	"runtime/debug"
)

// Release is the version that the next tag gets, or the version of the tag of this commit.
const Release = "0.1.0"

// commit replaces the commit of the build information, for builds outside a clone:
// go build -ldflags "-X github.com/touchline/touchline/internal/platform/buildinfo.commit=…".
var commit string

// commitLength identifies a commit in a line for people; git log accepts it.
const commitLength = 12

// Info describes a program.
type Info struct {
	Release string
	// Commit is the start of the commit's hash. It ends in -modified if the work tree had
	// changes, and is unknown if Go found no clone to build from, for example in go run.
	Commit string
	// Go is the version of the toolchain.
	Go string
}

// Read returns the Info of this program.
func Read() Info {
	build, _ := debug.ReadBuildInfo()
	info := From(build)
	info.Commit = cmp.Or(commit, info.Commit)
	return info
}

// From returns the Info of the program with this build information; nil means that
// there is none.
func From(build *debug.BuildInfo) Info {
	info := Info{Release: Release, Commit: "unknown", Go: "unknown"}
	if build == nil {
		return info
	}
	info.Go = build.GoVersion
	modified := false
	for _, s := range build.Settings {
		switch {
		case s.Key == "vcs.revision" && s.Value != "":
			info.Commit = s.Value[:min(commitLength, len(s.Value))]
		case s.Key == "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified {
		info.Commit += "-modified"
	}
	return info
}

// String returns the Info in one line: 0.1.0, commit 0123456789ab, go1.26.0.
func (i Info) String() string { return fmt.Sprintf("%s, commit %s, %s", i.Release, i.Commit, i.Go) }
