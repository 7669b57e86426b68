package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// modules writes the modules of the program, which its build information names, in the JSON format of SPDX 2.3.
func (r *release) modules(p platform) error {
	program, err := os.ReadFile(p.program)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Write(r.spdx(r.name(p, ""), program, info), &b, json.Indent("  ")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, r.name(p, ".spdx.json")), b.Bytes(), 0o644)
}

func (r *release) spdx(name string, program []byte, info *debug.BuildInfo) *v2_3.Document {
	sum := fmt.Sprintf("%x", sha256.Sum256(program))
	main := newPackage("touchline", r.version, "pkg:golang/"+info.Main.Path+"@v"+r.version)
	main.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: sum}}
	main.PackageLicenseDeclared = "Apache-2.0"
	main.PrimaryPackagePurpose = "APPLICATION"
	document := &v2_3.Document{
		SPDXVersion: v2_3.Version, DataLicense: v2_3.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: name,
		DocumentNamespace: "https://github.com/touchline/touchline/spdx/" + name + "-" + sum,
		CreationInfo: &v2_3.CreationInfo{
			Created:  r.time.Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "touchline-release-" + r.version}},
		},
		Packages:      []*v2_3.Package{main},
		Relationships: []*v2_3.Relationship{relation("DOCUMENT", common.TypeRelationshipDescribe, main.PackageSPDXIdentifier)},
	}
	version := strings.TrimPrefix(info.GoVersion, "go")
	parts := []*v2_3.Package{newPackage("stdlib", version, "pkg:golang/stdlib@"+version)}
	for _, m := range info.Deps {
		parts = append(parts, newPackage(m.Path, m.Version, "pkg:golang/"+m.Path+"@"+m.Version))
	}
	for _, part := range parts {
		document.Packages = append(document.Packages, part)
		document.Relationships = append(document.Relationships, relation(main.PackageSPDXIdentifier, common.TypeRelationshipDependsOn, part.PackageSPDXIdentifier))
	}
	return document
}

// newPackage returns a module. Its licence is not known to the build.
func newPackage(name, version, purl string) *v2_3.Package {
	id := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-':
			return c
		}
		return '-'
	}, "Package-"+name+"-"+version)
	return &v2_3.Package{
		PackageName: name, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: version,
		PackageDownloadLocation: "NOASSERTION", PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: "NOASSERTION", PackageCopyrightText: "NOASSERTION",
		PackageExternalReferences: []*v2_3.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: purl}},
	}
}

func relation(from common.ElementID, kind string, to common.ElementID) *v2_3.Relationship {
	return &v2_3.Relationship{RefA: common.MakeDocElementID("", string(from)), Relationship: kind, RefB: common.MakeDocElementID("", string(to))}
}
