package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// writing is the folder of what is not yet whole. No key begins with a dot.
const writing = ".writing"

// folder keeps each key in a file of its own under root. What a name of a link
// or a mount may do, no file is reached outside of it: see os.Root.
type folder struct{ root *os.Root }

func openFolder(path string) (*folder, error) {
	if path == "" {
		return nil, errors.New("file: wants a path")
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for files: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open the folder for files: %w", err)
	}
	if err := root.Mkdir(writing, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(fmt.Errorf("use the folder for files: %w", err), root.Close())
	}
	return &folder{root}, nil
}

// place is where key lies: a folder named by the end of its first name, and in it
// one file. Ids of version 7 begin with the time, so it is their end that spreads
// them; what was made of one lies beside it.
func place(key string) (dir, file string) {
	first, _, _ := strings.Cut(key, "/")
	return first[max(0, len(first)-2):], strings.ReplaceAll(key, "/", ".")
}

// Put implements Store. A crash leaves the old bytes or the new ones, and perhaps
// a file in .writing that Delete removes.
func (f *folder) Put(ctx context.Context, key string, r io.ReadSeeker, size int64, _ string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return down(ctx, "keep", key, f.put(ctx, key, r, size, f.root.Rename))
}

// create keeps data under key unless the key holds something.
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
		// This file system knows no links: the last of those that race wins.
		return f.Put(ctx, key, bytes.NewReader(data), int64(len(data)), "")
	}
	return down(ctx, "keep", key, err)
}

func (f *folder) put(ctx context.Context, key string, r io.ReadSeeker, size int64, publish func(from, to string) error) error {
	dir, name := place(key)
	temp := writing + "/" + name + "." + hex.EncodeToString(random())
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

func random() []byte {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // it never fails
	return b
}

// write makes a file of exactly size bytes and syncs it.
func (f *folder) write(ctx context.Context, name string, r io.ReadSeeker, size int64) error {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, &heeding{ctx, io.LimitReader(r, size)})
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// makeDir makes a folder and has its name survive a power cut.
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
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // some file systems sync no folders
	}
	return errors.Join(err, d.Close())
}

// Open implements Store.
func (f *folder) Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error) {
	if err := checkKey(key); err != nil {
		return nil, 0, err
	}
	dir, name := place(key)
	file, err := f.root.Open(dir + "/" + name)
	if errors.Is(err, fs.ErrNotExist) && f.present() {
		err = ErrAbsent
	}
	if err != nil {
		return nil, 0, down(ctx, "read", key, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a file")
	}
	if err != nil {
		_ = file.Close()
		return nil, 0, down(ctx, "read", key, err)
	}
	return &stored{file, ctx, key}, info.Size(), nil
}

// present tells a folder without a file from one that is gone with all it held.
func (f *folder) present() bool {
	_, err := f.root.Stat(writing)
	return err == nil
}

// Delete implements Store.
func (f *folder) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	dir, name := place(key)
	err := f.root.Remove(dir + "/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	} else if err == nil {
		err = f.sync(dir)
	}
	if err == nil {
		err = f.dropUnfinished(name)
	}
	return down(ctx, "delete", key, err)
}

// dropUnfinished removes what writes of name left that were cut short.
func (f *folder) dropUnfinished(name string) error {
	entries, err := fs.ReadDir(f.root.FS(), writing)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if of, nonce, found := cutLast(e.Name()); found && nonce != "" && of == name {
			if err := f.root.Remove(writing + "/" + e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func cutLast(name string) (before, after string, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// Close implements Store.
func (f *folder) Close() error { return f.root.Close() }

// stored is a file being read: its failures are the store's.
type stored struct {
	*os.File
	ctx context.Context
	key string
}

// Read implements io.Reader.
func (s *stored) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.File.Read(p)
	if err != nil && err != io.EOF {
		err = down(s.ctx, "read", s.key, err)
	}
	return n, err
}

// heeding ends with its context.
type heeding struct {
	ctx context.Context
	r   io.Reader
}

func (h *heeding) Read(p []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	return h.r.Read(p)
}
