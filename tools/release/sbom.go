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
func (r *release) modules(p platform, components []component) error {
	program, err := os.ReadFile(p.program)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Write(r.spdx(r.name(p, ""), program, info, components), &b, json.Indent("  ")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, r.name(p, ".spdx.json")), b.Bytes(), 0o644)
}

func (r *release) spdx(name string, program []byte, info *debug.BuildInfo, components []component) *v2_3.Document {
	sum := fmt.Sprintf("%x", sha256.Sum256(program))
	main := newPackage("touchline", r.version, "pkg:golang/"+info.Main.Path+"@v"+r.version, "Apache-2.0")
	main.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: sum}}
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
	for _, c := range components {
		purl := "pkg:golang/" + c.name + "@" + c.version
		if name, npm := strings.CutPrefix(c.name, "@"); npm {
			purl = "pkg:npm/%40" + name + "@" + c.version
		}
		part := newPackage(c.name, c.version, purl, c.license)
		document.Packages = append(document.Packages, part)
		document.Relationships = append(document.Relationships, relation(main.PackageSPDXIdentifier, common.TypeRelationshipDependsOn, part.PackageSPDXIdentifier))
	}
	return document
}

// newPackage returns a module with the licences of its files. Its supplier is the owner of its path.
func newPackage(name, version, purl, license string) *v2_3.Package {
	id := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-':
			return c
		}
		return '-'
	}, "Package-"+name+"-"+version)
	return &v2_3.Package{
		PackageName: name, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: version,
		PackageDownloadLocation: noAssertion, PackageLicenseConcluded: noAssertion, PackageLicenseDeclared: license, PackageCopyrightText: noAssertion,
		PackageSupplier:           &common.Supplier{SupplierType: "Organization", Supplier: supplier(name)},
		PackageExternalReferences: []*v2_3.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: purl}},
	}
}

// supplier returns the owner in the path of a module: a host, or an account of a host of many.
func supplier(name string) string {
	switch parts := strings.Split(strings.TrimPrefix(name, "@"), "/"); {
	case name == "touchline":
		return "The Touchline authors"
	case name == "stdlib":
		return "The Go authors"
	case parts[0] == "github.com" && len(parts) > 1:
		return parts[1]
	default:
		return parts[0]
	}
}

func relation(from common.ElementID, kind string, to common.ElementID) *v2_3.Relationship {
	return &v2_3.Relationship{RefA: common.MakeDocElementID("", string(from)), Relationship: kind, RefB: common.MakeDocElementID("", string(to))}
}
