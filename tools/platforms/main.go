// Command platforms compiles all packages of a module and their tests for other platforms, up to the types: it makes no machine code,
// which takes ten times as long. From the root of the repository:
//
//	go -C tools run ./platforms windows/amd64 darwin/arm64
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	debug.SetGCPercent(400)
	failed := false
	for _, platform := range os.Args[1:] {
		system, processor, _ := strings.Cut(platform, "/")
		all, err := packages.Load(&packages.Config{
			Dir: "..", Tests: true, Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor),
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
				packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		}, "./...")
		if err != nil {
			fmt.Fprintln(os.Stderr, platform, err)
			os.Exit(1)
		}
		faults := 0
		packages.Visit(all, nil, func(p *packages.Package) {
			for _, err := range p.Errors {
				fmt.Fprintf(os.Stderr, "%s: %v\n", platform, err)
				faults++
			}
		})
		if faults == 0 {
			fmt.Printf("%s: %d packages and test packages compile\n", platform, len(all))
		}
		failed = failed || faults > 0
	}
	if failed {
		os.Exit(1)
	}
}
