package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// file is a file of an archive.
type file struct {
	name    string // with slashes
	mode    fs.FileMode
	content []byte
}

// archive writes the program with its documents: as zip for Windows, as tar.gz for the others.
func (r *release) archive(p platform) error {
	files, err := r.files(p)
	if err != nil {
		return err
	}
	top := r.name(p, "")
	if p.system == "windows" {
		content, err := zipped(top, files, r.time)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(r.out, top+".zip"), content, 0o644)
	}
	for i := range files {
		files[i].name = path.Join(top, files[i].name)
	}
	content, err := tarred(files, r.time)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, top+".tar.gz"), compress(content), 0o644)
}

// files returns the program, the documents, the manual pages and the completions.
func (r *release) files(p platform) ([]file, error) {
	program, err := os.ReadFile(p.program)
	if err != nil {
		return nil, err
	}
	files := []file{{filepath.Base(p.program), 0o755, program}}
	patterns := []string{"LICENSE", "README.md", "CHANGELOG.md", "docs/operating.md", "docs/settings.md"}
	for _, name := range patterns {
		text, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, text})
	}
	for _, pattern := range []string{noticesName, "man/*.1", "completion/*"} {
		names, err := filepath.Glob(filepath.Join(r.work, pattern)) // sorted
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			files = append(files, file{path.Join(path.Dir(pattern), filepath.Base(name)), 0o644, text})
		}
	}
	return files, nil
}

func tarred(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.content)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func zipped(top string, files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: path.Join(top, f.name), Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		entry, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
