// Command corpus sends the files of folders through the code that checks uploads and imports. It prints how many files the code accepts, why it
// refuses the others, and which make it panic. It stores nothing and needs no service.
//
//	go -C bench run ./corpus [-list] FOLDER…
//
// Files named .csv, .tsv and .txt are read as lists of players, all others as uploads. Public collections of such files:
// image-rs/jpeg-decoder, ianare/exif-samples, python-pillow/Pillow (Tests/images), mozilla/pdf.js (test/pdfs), py-pdf/sample-files, HPI-Information-Systems/Pollock.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/roster"
)

const (
	accepted = "accepted"
	panicked = "panic"
	// largest is the size in bytes from which a file is no upload.
	largest = 10 << 20
)

// row counts the files of a kind with the same outcome.
type row struct{ kind, outcome string }

type counts struct {
	files   map[row]int
	slowest map[row]time.Duration
}

func main() {
	list := flag.Bool("list", false, "print each file that is not accepted, with the reason")
	flag.Parse()
	debug.SetMemoryLimit(picture.MemoryLimit)
	c := counts{map[row]int{}, map[row]time.Duration{}}
	for _, folder := range flag.Args() {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			return c.add(path, *list)
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	c.print(os.Stdout)
	if slices.ContainsFunc(slices.Collect(maps.Keys(c.files)), func(r row) bool { return r.outcome == panicked }) {
		os.Exit(1)
	}
}

func (c counts) add(path string, list bool) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	start := time.Now()
	kind, outcome, detail := check(path, content)
	r := row{kind, outcome}
	c.files[r]++
	c.slowest[r] = max(c.slowest[r], time.Since(start))
	if list && outcome != accepted {
		fmt.Printf("%s: %s: %s\n", path, outcome, detail)
	}
	return nil
}

// check returns what the service makes of a file.
func check(path string, content []byte) (kind, outcome, detail string) {
	defer func() {
		if p := recover(); p != nil {
			outcome, detail = panicked, fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv", ".txt":
		kind = "list"
		outcome, detail = checkList(content)
	default:
		kind = "upload"
		outcome, detail = checkUpload(content)
	}
	return kind, outcome, detail
}

func checkList(content []byte) (outcome, detail string) {
	rows, faulty, err := roster.CountRows(content, time.Now())
	if err != nil {
		return reason(err)
	}
	if faulty > 0 {
		return "accepted, some rows not", fmt.Sprintf("%d of %d rows", faulty, rows)
	}
	return accepted, ""
}

func checkUpload(content []byte) (outcome, detail string) {
	if len(content) > largest {
		return "payload_too_large", fmt.Sprintf("%d bytes", len(content))
	}
	file := bytes.NewReader(content)
	info, err := picture.Inspect(file, file.Size())
	if err == nil && info.IsPicture() {
		_, err = picture.Process(context.Background(), file, file.Size(), picture.Options{
			Sizes: picture.ProfileSizes, Create: func(picture.Size) (io.Writer, error) { return io.Discard, nil },
		})
	}
	if err != nil {
		return reason(err)
	}
	return accepted, ""
}

// reason returns the code and the text of a refusal.
func reason(err error) (code, detail string) {
	if e, ok := errors.AsType[*picture.FileError](err); ok {
		return e.Code, e.Detail
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && len(e.Fields) > 0 {
		return e.Fields[0].Code, e.Fields[0].Detail
	}
	return cmp.Or(fault.CodeOf(err), "error"), err.Error()
}

func (c counts) print(w io.Writer) {
	fmt.Fprintln(w, "| files | as | result | slowest |\n|---|---|---|---|")
	rows := slices.SortedFunc(maps.Keys(c.files), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(c.files[b], c.files[a]), cmp.Compare(a.outcome, b.outcome))
	})
	for _, r := range rows {
		fmt.Fprintf(w, "| %d | %s | %s | %.1f s |\n", c.files[r], r.kind, r.outcome, c.slowest[r].Seconds())
	}
}
