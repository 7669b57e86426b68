package buildinfo_test

import (
	"os"
	"regexp"
	"runtime/debug"
	"testing"

	"github.com/touchline/touchline/internal/platform/buildinfo"
)

func TestFrom(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, tt := range []struct {
		build *debug.BuildInfo
		want  string
	}{
		{nil, "0.1.0, commit unknown, unknown"},
		{&debug.BuildInfo{GoVersion: "go1.26.0"}, "0.1.0, commit unknown, go1.26.0"},
		{&debug.BuildInfo{GoVersion: "go1.26.0", Settings: []debug.BuildSetting{revision}}, "0.1.0, commit 0123456789ab, go1.26.0"},
		{&debug.BuildInfo{GoVersion: "go1.26.0", Settings: []debug.BuildSetting{modified, revision}}, "0.1.0, commit 0123456789ab-modified, go1.26.0"},
	} {
		if got := buildinfo.From(tt.build).String(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestReleaseIsNewestOfChangelog compares Release with CHANGELOG.md.
func TestReleaseIsNewestOfChangelog(t *testing.T) {
	text, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^## \[([^\]]+)\]`).FindSubmatch(text)
	if heading == nil || string(heading[1]) != buildinfo.Release {
		t.Errorf("the newest heading of CHANGELOG.md is %q, Release is %s", heading, buildinfo.Release)
	}
}
