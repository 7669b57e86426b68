package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"syscall"
)

// tempDir holds files that are still being written. No key begins with a dot.
const tempDir = ".writing"

// folder stores each key in one file under root. os.Root keeps every access inside
// it, whatever links the folder contains.
type folder struct{ root *os.Root }

func openFolder(dir string) (*folder, error) {
	if dir == "" {
		return nil, errors.New("file store address has no path")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the file store folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the file store folder: %w", err)
	}
	if err := root.Mkdir(tempDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(fmt.Errorf("create %s in the file store folder: %w", tempDir, err), root.Close())
	}
	return &folder{root}, nil
}

// location returns the folder and the file name of key. The last two characters of
// the first name are the folder: UUIDv7 ids begin with the time, so only their end
// spreads evenly. Sizes of a picture lie next to it.
func location(key string) (dir, file string) {
	first, _, _ := strings.Cut(key, "/")
	return first[max(0, len(first)-2):], strings.ReplaceAll(key, "/", ".")
}

// Put implements Store. After a crash the old or the new content is there, and
// perhaps a file in .writing, which Delete removes.
func (f *folder) Put(ctx context.Context, key string, r io.ReadSeeker, size int64, _ string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return unavailable(ctx, "put", key, f.put(ctx, key, r, size, f.root.Rename))
}

// create stores data under key unless the key has content.
func (f *folder) create(ctx context.Context, key string, data []byte) error {
	err := f.put(ctx, key, bytes.NewReader(data), int64(len(data)), func(from, to string) error {
		if err := f.root.Link(from, to); err != nil {
			return err
		}
		return f.root.Remove(from)
	})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) {
		// Without hard links the last of several concurrent writers wins.
		return f.Put(ctx, key, bytes.NewReader(data), int64(len(data)), "")
	}
	return unavailable(ctx, "put", key, err)
}

func (f *folder) put(ctx context.Context, key string, r io.ReadSeeker, size int64, publish func(from, to string) error) error {
	dir, name := location(key)
	temp := tempDir + "/" + name + "." + rand.Text()
	err := f.write(ctx, temp, r, size)
	if err == nil {
		err = f.makeDir(dir)
	}
	if err == nil {
		err = publish(temp, dir+"/"+name)
	}
	if err != nil {
		_ = f.root.Remove(temp)
		return err
	}
	return f.sync(dir)
}

// write creates a file of exactly size bytes and syncs it.
func (f *folder) write(ctx context.Context, name string, r io.ReadSeeker, size int64) error {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, &contextReader{ctx, io.LimitReader(r, size)})
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// makeDir creates a folder and syncs its parent, so that it survives a power cut.
func (f *folder) makeDir(dir string) error {
	err := f.root.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.sync(".")
}

func (f *folder) sync(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || runtime.GOOS == "windows" {
		err = nil // Windows and some file systems cannot sync a folder
	}
	return errors.Join(err, d.Close())
}

// Open implements Store.
func (f *folder) Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error) {
	if err := checkKey(key); err != nil {
		return nil, 0, err
	}
	dir, name := location(key)
	file, err := f.root.Open(dir + "/" + name)
	if errors.Is(err, fs.ErrNotExist) && f.exists() {
		err = ErrNotFound
	}
	if err != nil {
		return nil, 0, unavailable(ctx, "read", key, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		_ = file.Close()
		return nil, 0, unavailable(ctx, "read", key, err)
	}
	return &folderFile{file, ctx, key}, info.Size(), nil
}

// exists reports whether the folder is mounted: a missing file in a missing folder
// is not ErrNotFound.
func (f *folder) exists() bool {
	_, err := f.root.Stat(tempDir)
	return err == nil
}

// Delete implements Store.
func (f *folder) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	dir, name := location(key)
	err := f.root.Remove(dir + "/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	} else if err == nil {
		err = f.sync(dir)
	}
	if err == nil {
		err = f.removeTemp(name)
	}
	return unavailable(ctx, "delete", key, err)
}

// removeTemp removes the temporary files of interrupted writes of name.
func (f *folder) removeTemp(name string) error {
	entries, err := fs.ReadDir(f.root.FS(), tempDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if suffix := path.Ext(e.Name()); len(suffix) > 1 && strings.TrimSuffix(e.Name(), suffix) == name {
			if err := f.root.Remove(tempDir + "/" + e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// Close implements Store.
func (f *folder) Close() error { return f.root.Close() }

// folderFile is an open file whose read errors become faults.
type folderFile struct {
	*os.File
	ctx context.Context
	key string
}

// Read implements io.Reader.
func (s *folderFile) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.File.Read(p)
	if err != nil && err != io.EOF {
		err = unavailable(s.ctx, "read", s.key, err)
	}
	return n, err
}

// contextReader stops reading once its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
