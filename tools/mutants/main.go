// Command mutants plants the faults of faults.txt one by one and runs the tests that must find each. Nothing in the tree changes: Go compiles
// a changed copy of the file (go test -overlay). It ends with 1 if a fault was not found. The faults of simulation.txt are found by seeds of
// ./simulation in place of tests.
//
//	go -C tools run ./mutants [-check] [-only WORD] [-simulation]
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed faults.txt
var list []byte

//go:embed simulation.txt
var simulated []byte

// fault is one entry of faults.txt.
type fault struct {
	Name string // what is wrong for a user
	File string // from the root of the repository
	From string // occurs once in File
	To   string
	Test string // arguments of go test, or of the simulation
}

func main() {
	check := flag.Bool("check", false, "only check that each text to change occurs once in its file")
	only := flag.String("only", "", "only the faults whose file or name has this text")
	simulation := flag.Bool("simulation", false, "the faults of simulation.txt")
	flag.Parse()
	root, err := filepath.Abs("..")
	exitOn(err)
	if *simulation {
		list = simulated
	}
	faults, err := parse(list)
	exitOn(err)
	missed := 0
	for _, f := range faults {
		if !strings.Contains(f.Name+f.File, *only) {
			continue
		}
		changed, err := f.plant(root)
		exitOn(err)
		if *check {
			continue
		}
		start := time.Now()
		run := f.run
		if *simulation {
			run = f.simulate
		}
		found, output := run(root, changed)
		state := "found"
		if !found {
			state = "NOT FOUND"
			missed++
		}
		fmt.Printf("%-9s %4.0f s  %s: %s\n", state, time.Since(start).Seconds(), f.File, f.Name)
		if !found {
			fmt.Println(output)
		}
	}
	if missed > 0 {
		fmt.Printf("%d faults were not found\n", missed)
		os.Exit(1)
	}
}

// parse reads entries that are separated by empty lines, each with a line "key: value" for each field. Lines that begin with # are comments.
func parse(text []byte) (faults []fault, err error) {
	var f fault
	fields := map[string]*string{"fault": &f.Name, "file": &f.File, "from": &f.From, "to": &f.To, "test": &f.Test}
	lines := bufio.NewScanner(bytes.NewReader(append(text, "\n\n"...)))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "#"):
		case line != "":
			key, value, _ := strings.Cut(line, ":")
			if fields[key] == nil {
				return nil, fmt.Errorf("faults.txt:%d: unknown key %q", n, key)
			}
			*fields[key] = strings.TrimSpace(value)
		case f != fault{}:
			if f.Name == "" || f.File == "" || f.From == "" || f.Test == "" {
				return nil, fmt.Errorf("faults.txt:%d: the entry above lacks a field", n)
			}
			faults = append(faults, f)
			f = fault{}
		}
	}
	return faults, lines.Err()
}

// plant returns the content of the file with the fault.
func (f fault) plant(root string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(root, f.File))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(content, []byte(f.From)); n != 1 {
		return nil, fmt.Errorf("%s has %d times %q, want 1: correct tools/mutants/faults.txt", f.File, n, f.From)
	}
	return bytes.Replace(content, []byte(f.From), []byte(f.To), 1), nil
}

// run runs the tests with the changed file. A fault is found if a test fails; a program that does not compile finds nothing.
func (f fault) run(root string, changed []byte) (found bool, output string) {
	dir, overlay := f.overlay(root, changed)
	defer os.RemoveAll(dir)
	arguments := append([]string{"test", "-vet=off", "-failfast", "-overlay", overlay}, strings.Fields(f.Test)...)
	command := exec.Command("go", arguments...)
	command.Dir = root
	out, err := command.CombinedOutput()
	return err != nil && bytes.Contains(out, []byte("--- FAIL")), "go " + strings.Join(arguments, " ") + "\n" + string(out)
}

// simulate runs the simulation with the changed file. A fault is found if a seed breaks a rule; output says which.
func (f fault) simulate(root string, changed []byte) (found bool, output string) {
	dir, overlay := f.overlay(root, changed)
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "simulation")
	build := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./simulation")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return false, string(out)
	}
	out, _ := exec.Command(program, strings.Fields(f.Test)...).CombinedOutput() // its status is 1 for a broken rule
	found = bytes.Contains(out, []byte(" breaks "))
	if lines := bytes.Split(out, []byte("\n")); found {
		for _, line := range lines {
			if bytes.Contains(line, []byte(" breaks ")) {
				fmt.Printf("%.160s\n", line)
			}
		}
		fmt.Printf("%d seeds were clean\n", bytes.Count(out, []byte(" steps, "))-bytes.Count(out, []byte(" breaks ")))
	}
	return found, string(out)
}

// overlay writes the changed file and the description with which Go compiles it, into a new folder.
func (f fault) overlay(root string, changed []byte) (dir, file string) {
	dir, err := os.MkdirTemp("", "touchline-mutant-")
	exitOn(err)
	copied := filepath.Join(dir, filepath.Base(f.File))
	exitOn(os.WriteFile(copied, changed, 0o600))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, f.File): copied}})
	exitOn(err)
	overlayFile := filepath.Join(dir, "overlay.json")
	exitOn(os.WriteFile(overlayFile, overlay, 0o600))
	return dir, overlayFile
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
}
