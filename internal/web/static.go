package web

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
)

//go:embed static
var staticFiles embed.FS

// assets are the files that browsers load. Their address contains a hash of their
// content, so that browsers may keep them for a year.
type assets struct {
	files  map[string]asset // by name
	byPath map[string]asset // by the name with the hash
}

type asset struct {
	path    string
	kind    string
	content []byte
}

// scriptComment is a line of a script that is a comment, the indentation of another line, or a comment at its end.
// Browsers do not get them: they are a fifteenth of what a first visit loads. TestScripts holds what it needs.
var scriptComment = regexp.MustCompile(`(?m)^\s*//.*\n|^ +| +// .*$`)

func loadAssets() (*assets, error) {
	a := &assets{files: map[string]asset{}, byPath: map[string]asset{}}
	err := fs.WalkDir(staticFiles, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		base, extension := path.Base(name), path.Ext(name)
		if extension == ".js" {
			content = scriptComment.ReplaceAll(content, nil)
		}
		hash := sha256.Sum256(content)
		hashed := strings.TrimSuffix(base, extension) + "." + hex.EncodeToString(hash[:6]) + extension
		file := asset{path: "/static/" + hashed, kind: mime.TypeByExtension(extension), content: content}
		a.files[base], a.byPath[hashed] = file, file
		return nil
	})
	return a, err
}

// path returns the address of a file, for templates.
func (a *assets) path(name string) (string, error) {
	file, ok := a.files[name]
	if !ok {
		return "", fmt.Errorf("no static file %q", name)
	}
	return file.path, nil
}

func (p *Pages) staticRoutes() []Route {
	return []Route{{Method: http.MethodGet, Pattern: "/static/{name}", Handle: p.static}}
}

// static serves GET /static/{name}.
func (p *Pages) static(ctx context.Context, r *Request) (Response, error) {
	file, ok := p.render.assets.byPath[r.PathValue("name")]
	if !ok {
		return notFound(ctx, r)
	}
	return Response{Write: func(w http.ResponseWriter, _ *http.Request) error {
		h := w.Header()
		h.Set("Content-Type", file.kind)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Del("X-Robots-Tag")
		_, err := w.Write(file.content)
		return err
	}}, nil
}
