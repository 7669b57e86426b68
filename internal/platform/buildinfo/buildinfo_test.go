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

// TestVersionsAgree: the changelog, the OpenAPI documents, the SDKs and the examples name the version of the program.
func TestVersionsAgree(t *testing.T) {
	version := regexp.QuoteMeta(buildinfo.Release)
	for name, patterns := range map[string][2]string{
		"CHANGELOG.md":                                        {`(?m)\A(?s:.*?)^## (.*)$`, `Unreleased|\[` + version + `\] - \d{4}-\d\d-\d\d`},
		"internal/api/openapi.yaml":                           {`(?m)^  version: (.*)$`, version},
		"internal/admin/openapi.yaml":                         {`(?m)^  version: (.*)$`, version},
		"clients/typescript/package.json":                     {`(?m)^  "version": "(.*)",$`, version},
		"clients/typescript/package-lock.json":                {`"name": "@?touchline/?.*",\s+"version": "(.*)"`, version},
		"clients/typescript/README.md":                        {`touchline-client-(.*)\.tgz`, version},
		"clients/typescript/examples/coach/package.json":      {`touchline-client-([^/]*)\.tgz`, version},
		"clients/typescript/examples/coach/package-lock.json": {`"name": ".*",\s+"version": "(.*)"`, version},
		"clients/go/README.md":                                {`clients/go@v(\S*)`, version},
		"deploy/compose.yaml":                                 {`touchline[:_](\d+\.\d+\.\d+)`, version},
		"deploy/compose.test.yaml":                            {`touchline[:_](\d+\.\d+\.\d+)`, version},
		"deploy/kubernetes/touchline.yaml":                    {`touchline:(\d\S*)`, version},
		"deploy/kubernetes/migrate.yaml":                      {`touchline:(\d\S*)`, version},
		"docs/operating.md":                                   {`touchline_(\d[^_]*)_linux`, version},
	} {
		text, err := os.ReadFile("../../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(patterns[0]).FindAllSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("%s names no version", name)
		}
		for _, match := range found {
			if !regexp.MustCompile(`^(` + patterns[1] + `)$`).Match(match[1]) {
				t.Errorf("%s has %q, the program is %s", name, match[1], buildinfo.Release)
			}
		}
	}
}
