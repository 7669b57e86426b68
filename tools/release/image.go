package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user runs the program in the image. The number is that of distroless images.
const user = 65532

// image writes an archive in the layout of OCI with an image for each Linux platform.
func (r *release) image(linux []platform) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range linux {
		one, err := r.imageOf(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: one, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.system, Architecture: p.arch}}})
	}
	folder := filepath.Join(r.work, "oci")
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "touchline:" + r.version})); err != nil {
		return err
	}
	var files []file
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		files = append(files, file{filepath.ToSlash(name), 0o644, content})
		return err
	})
	if err != nil {
		return err
	}
	content, err := tarred(files, r.time)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "touchline_"+r.version+"_oci.tar"), content, 0o644)
}

// imageOf returns an image with the program, root certificates, and folders for data and temporary files.
func (r *release) imageOf(p platform) (v1.Image, error) {
	content, err := r.layer(p)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), mutate.Addendum{
		Layer: layer, History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "tools/release"},
	})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.system, p.arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		User: "65532:65532", WorkingDir: "/var/lib/touchline", ExposedPorts: map[string]struct{}{"8080/tcp": {}}, Volumes: map[string]struct{}{"/var/lib/touchline": {}},
		Entrypoint: []string{"/usr/bin/touchline"}, Cmd: []string{"serve"}, StopSignal: "SIGTERM",
		Env: []string{"PATH=/usr/bin", "TOUCHLINE_ADDR=:8080", "TOUCHLINE_DATA_DIR=/var/lib/touchline"},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/usr/bin/touchline", "health"}, Interval: 10 * time.Second, Timeout: 9 * time.Second, StartPeriod: time.Minute, Retries: 3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title": "Touchline", "org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.source": "https://github.com/touchline/touchline", "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, config)
}

func (r *release) layer(p platform) ([]byte, error) {
	program, err := os.ReadFile(p.program)
	if err != nil {
		return nil, err
	}
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue // trusted only for certificates from before a date, which a file cannot say
		}
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	texts, err := os.ReadFile(filepath.Join(r.work, noticesName))
	if err != nil {
		return nil, err
	}
	license, err := os.ReadFile(filepath.Join(r.source, "LICENSE"))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []struct {
		tar.Header
		content []byte
	}{
		{tar.Header{Name: "etc/passwd", Mode: 0o644}, []byte("root:x:0:0::/:/sbin/nologin\ntouchline:x:65532:65532::/var/lib/touchline:/sbin/nologin\n")},
		{tar.Header{Name: "etc/group", Mode: 0o644}, []byte("root:x:0:\ntouchline:x:65532:\n")},
		{tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, roots.Bytes()},
		{tar.Header{Name: "tmp/", Mode: 0o1777}, nil},
		{tar.Header{Name: "usr/bin/touchline", Mode: 0o755}, program},
		{tar.Header{Name: "usr/share/doc/touchline/LICENSE", Mode: 0o644}, license},
		{tar.Header{Name: "usr/share/doc/touchline/" + noticesName, Mode: 0o644}, texts},
		{tar.Header{Name: "var/lib/touchline/", Mode: 0o700, Uid: user, Gid: user}, nil},
	} {
		h.ModTime, h.Size, h.Format, h.Typeflag = r.time, int64(len(h.content)), tar.FormatPAX, tar.TypeReg
		if h.Mode == 0o1777 || h.Mode == 0o700 {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(&h.Header); err != nil {
			return nil, err
		}
		if _, err := w.Write(h.content); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return b.Bytes(), err
}
