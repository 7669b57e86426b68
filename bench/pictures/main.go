// Command pictures measures the memory and time that the heaviest pictures need, each in a
// separate process with a memory limit below the service's. Lower is better.
//
//	go -C bench run ./pictures
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/platform/picture/picturetest"
)

func main() {
	one := flag.String("one", "", "process the picture in this file and print its memory and time")
	sizes := flag.String("sizes", "", "with -one: profile or document")
	match := flag.String("match", "", "measure only pictures whose name contains this")
	write := flag.String("write", "", "write the picture of this name to the file named by -one")
	flag.Parse()
	run := func() error { return table(*match) }
	switch {
	case *write != "":
		run = func() error { return writeTo(*one, *write) }
	case *one != "":
		run = func() error { return process(*one, *sizes) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// writeTo writes the picture of that name to a file.
func writeTo(path, name string) error {
	for _, h := range picturetest.HeavyPictures() {
		if h.Name == name {
			return os.WriteFile(path, h.Make(), 0o600)
		}
	}
	return fmt.Errorf("no picture named %q", name)
}

// table measures each heavy picture whose name contains match, as a profile picture and as a document.
func table(match string) error {
	dir, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("| picture | as | upload | peak, MB above idle | seconds | result |\n|---|---|---|---|---|---|")
	for _, h := range picturetest.HeavyPictures() {
		if !strings.Contains(h.Name, match) {
			continue
		}
		path := dir + "/picture"
		file := h.Make()
		if err := os.WriteFile(path, file, 0o600); err != nil {
			return err
		}
		for _, as := range []string{"profile", "document"} {
			out, err := exec.Command(os.Args[0], "-one", path, "-sizes", as).Output()
			if err != nil {
				return fmt.Errorf("%s: %w: %s", h.Name, err, out)
			}
			fmt.Printf("| %s | %s | %d kB | %s |\n", h.Name, as, len(file)/1000, strings.TrimSpace(string(out)))
		}
		file = nil
		debug.FreeOSMemory()
	}
	return nil
}

// process prints the peak memory above idle in MB, the time in seconds and the result.
func process(path, sizes string) error {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(picture.MemoryLimit)
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	opts := picture.Options{Sizes: picture.DocumentSizes, Create: func(picture.Size) (io.Writer, error) { return io.Discard, nil }}
	if sizes == "profile" {
		opts.Sizes = picture.ProfileSizes
	}
	debug.FreeOSMemory()
	idle, _, err := bench.Memory(os.Getpid())
	if err != nil {
		return err
	}
	start := time.Now()
	_, failure := picture.Process(context.Background(), file, info.Size(), opts)
	took := time.Since(start)
	result := "accepted"
	if r, ok := errors.AsType[*picture.FileError](failure); ok {
		result = r.Code
	} else if failure != nil {
		return failure
	}
	_, peak, err := bench.Memory(os.Getpid())
	if err != nil {
		return err
	}
	fmt.Printf("%d | %.1f | %s\n", (peak-idle)/1e6, took.Seconds(), result)
	return nil
}
