package apidocs

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"sync"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// scalarVersion is the version of the npm package @scalar/api-reference, whose browser build is
// embedded. tools/scalar writes the archive.
const scalarVersion = "1.76.0"

//go:embed scalar/scalar-1.76.0.zip
var scalarArchive []byte

const (
	// scalarPath is the folder of the scripts. It has the version, so that browsers may keep them for a year.
	scalarPath  = "/docs/scalar-" + scalarVersion + "/"
	scalarEntry = "standalone.esm.js"
)

// scalarFiles are the entries of the archive by name.
var scalarFiles = sync.OnceValues(func() (map[string]*zip.File, error) {
	r, err := zip.NewReader(bytes.NewReader(scalarArchive), int64(len(scalarArchive)))
	if err != nil {
		return nil, fmt.Errorf("read the archive of Scalar: %w", err)
	}
	files := map[string]*zip.File{}
	for _, f := range r.File {
		files[f.Name] = f
	}
	return files, nil
})

// scalarImports are the paths of the scripts that the reference loads before it shows anything, so
// that a browser asks for all at once.
var scalarImports = sync.OnceValues(func() ([]string, error) {
	files, err := scalarFiles()
	if err != nil {
		return nil, err
	}
	names := []string{scalarEntry}
	for i := 0; i < len(names); i++ {
		f, ok := files[names[i]]
		if !ok {
			return nil, fmt.Errorf("the script %s of Scalar is not in the archive", names[i])
		}
		content, err := unzip(f)
		if err != nil {
			return nil, err
		}
		for _, file := range staticImports(content) {
			if name := path.Join(path.Dir(names[i]), file); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for i := range names {
		names[i] = scalarPath + names[i]
	}
	return names, nil
})

// staticImports returns the files in `import "./file"` and `from "./file"`. A regular expression takes
// ten times as long for the four megabytes of Scalar.
func staticImports(script []byte) []string {
	var files []string
	for {
		before, after, found := bytes.Cut(script, []byte(`"./`))
		if !found {
			return files
		}
		before = bytes.TrimRight(before, " ")
		file, rest, closed := bytes.Cut(after, []byte(`"`))
		if closed && (bytes.HasSuffix(before, []byte("import")) || bytes.HasSuffix(before, []byte("from"))) {
			files = append(files, string(file))
		}
		script = rest
	}
}

func unzip(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer r.Close()
	return io.ReadAll(r)
}

// serveScalar serves a script of the archive, whose entries are compressed already.
func serveScalar(w http.ResponseWriter, r *http.Request, name string) error {
	files, err := scalarFiles()
	if err != nil {
		return err
	}
	f, ok := files[name]
	if !ok {
		return fault.Missing()
	}
	read, encoding := unzip, ""
	if wire.AcceptsEncoding(r.Header, "gzip") {
		read, encoding = gzipped, "gzip"
	}
	body, err := read(f)
	if err != nil {
		return err
	}
	h := w.Header()
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Add("Vary", "Accept-Encoding")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // an error means that the client has gone
	return nil
}

// gzipped returns an entry in the format of gzip (RFC 1952): the same compressed bytes between
// another header and trailer.
func gzipped(f *zip.File) ([]byte, error) {
	raw, err := f.OpenRaw()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	out := bytes.NewBuffer([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255})
	if _, err := io.Copy(out, raw); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	trailer := binary.LittleEndian.AppendUint32(nil, f.CRC32)
	trailer = binary.LittleEndian.AppendUint32(trailer, uint32(f.UncompressedSize64))
	return append(out.Bytes(), trailer...), nil
}
