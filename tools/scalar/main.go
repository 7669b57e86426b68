// Command scalar writes the browser build of the npm package @scalar/api-reference into the
// archive that the service embeds, or checks that the archive has the files of the package:
//
//	go -C tools run ./scalar
//	go -C tools run ./scalar -check
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	version = "1.76.0"
	// integrity is the hash that the registry and a package-lock.json have for this version.
	integrity = "sha512-pjqwnzmA9YK3ZX+IZSICMsywm4qI6HLSngR2py9H6TvFApHHuJjkTAd+gFJfnqJDzJuro8k7ji6JCtJ2U+Byng=="
	archive   = "../internal/platform/apidocs/scalar/scalar-" + version + ".zip"
)

func main() {
	check := flag.Bool("check", false, "compare the archive with the package and write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "scalar:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	files, err := download()
	if err != nil {
		return err
	}
	if check {
		return compare(files)
	}
	return write(files)
}

// download returns the files of the browser build in the package.
func download() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "scalar-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	pack := exec.Command("npm", "pack", "@scalar/api-reference@"+version, "--silent", "--pack-destination", dir)
	pack.Stderr = os.Stderr
	if err := pack.Run(); err != nil {
		return nil, fmt.Errorf("npm pack: %w", err)
	}
	tarball, err := os.ReadFile(filepath.Join(dir, "scalar-api-reference-"+version+".tgz"))
	if err != nil {
		return nil, err
	}
	sum := sha512.Sum512(tarball)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != integrity {
		return nil, fmt.Errorf("the package has the hash %s, want %s", got, integrity)
	}
	return browserFiles(tarball)
}

// browserFiles returns the scripts of the browser build, without the chunks of its assistant, which is off.
func browserFiles(tarball []byte) (map[string][]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for reader := tar.NewReader(unzipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		name, inside := strings.CutPrefix(header.Name, "package/dist/browser/")
		chunk := strings.HasPrefix(name, "chunks/") && strings.HasSuffix(name, ".js") && !strings.Contains(name, "AgentScalar")
		if !inside || !chunk && name != "standalone.esm.js" {
			continue
		}
		if files[name], err = io.ReadAll(reader); err != nil {
			return nil, err
		}
	}
}

// write writes the archive. Its entries have no times, so that the same files give the same bytes.
func write(files map[string][]byte) error {
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := zw.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		if _, err := w.Write(files[name]); err != nil {
			return err
		}
	}
	if err := zw.Close(); err != nil {
		return err
	}
	return os.WriteFile(archive, buf.Bytes(), 0o644)
}

// compare returns an error unless the archive has exactly the files.
func compare(files map[string][]byte) error {
	reader, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer reader.Close()
	for _, entry := range reader.File {
		r, err := entry.Open()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("%s: %w", entry.Name, err)
		}
		if want, ok := files[entry.Name]; !ok || !bytes.Equal(content, want) {
			return fmt.Errorf("%s is not the file of @scalar/api-reference %s", entry.Name, version)
		}
		delete(files, entry.Name)
	}
	for name := range files {
		return fmt.Errorf("%s of @scalar/api-reference %s is missing", name, version)
	}
	fmt.Printf("%d files are those of @scalar/api-reference %s\n", len(reader.File), version)
	return nil
}
