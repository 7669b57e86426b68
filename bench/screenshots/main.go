// Command screenshots draws pages of the demo club: the ones that README.md shows, question and answer in each language, or with
// -before contact sheets of all pages of two builds.
//
//	go build -o touchline ./cmd/touchline
//	go -C bench run ./screenshots -touchline ../touchline -to ../docs/screenshots
//	go -C bench run ./screenshots -touchline ../touchline -to ../docs/screenshots -languages
//	go -C bench run ./screenshots -touchline ../touchline -to ../docs/screenshots -before ../touchline-before
//
// It needs Chromium or its headless shell.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// person is an account of the demo.
type person struct{ role, number string }

var (
	coach    = person{"coach", "+919812300001"}
	guardian = person{"guardian", "+919812300011"}
	asked    = person{"guardian", "+919812300099"}
)

// pages are the pages that README.md shows. Of each path after the first, the first link whose address matches it is followed.
var pages = []struct {
	name  string
	by    person
	paths []string
}{
	{"players", coach, []string{"/coach/players"}},
	{"attendance", coach, []string{"/coach/batches", `^/coach/batches/[0-9a-f-]{36}$`, `/attendance/`}},
	{"question", asked, nil},
}

func main() {
	program := flag.String("touchline", "./touchline", "the program to draw")
	to := flag.String("to", ".", "folder of the pictures")
	browser := flag.String("browser", "", "path of the browser; found by default")
	sheet := flag.Bool("languages", false, "draw languages.png only: question and answer in each language")
	before := flag.String("before", "", "draw contact sheets of all pages only: each page of this program beside that of -touchline")
	flag.Parse()
	if err := run(*program, *before, *to, *browser, *sheet); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// demo is the demo with its output, which has the codes and links that it would send.
type demo struct {
	url   string
	lines chan string
	// addresses are parts of the addresses of this demo, by name.
	addresses map[string]string
}

func run(program, before, to, browser string, sheet bool) error {
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Minute)
	defer stop()
	d, end, err := startDemo(ctx, program)
	if err != nil {
		return err
	}
	defer end()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("headless", "new"), chromedp.Flag("hide-scrollbars", true))
	for _, name := range []string{browser, "/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			options = append(options, chromedp.ExecPath(path))
			break
		}
	}
	ctx, stopBrowser := chromedp.NewExecAllocator(ctx, options...)
	defer stopBrowser()
	ctx, stopTab := chromedp.NewContext(ctx)
	defer stopTab()
	if sheet {
		return d.drawLanguages(ctx, filepath.Join(to, "languages.png"))
	}
	if before != "" {
		old, end, err := startDemo(ctx, before)
		if err != nil {
			return err
		}
		defer end()
		return drawContact(ctx, old, d, to)
	}
	by := person{}
	for _, page := range pages {
		if page.by != by {
			by = page.by
			if err := d.signIn(ctx, by); err != nil {
				return fmt.Errorf("sign in %s %s: %w", by.role, by.number, err)
			}
		}
		var address string
		if page.paths == nil {
			address, err = d.ask(ctx, page.by)
		} else {
			address, err = d.find(ctx, page.paths)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", page.name, err)
		}
		if err := capture(ctx, address, filepath.Join(to, page.name+".png")); err != nil {
			return fmt.Errorf("%s: %w", page.name, err)
		}
	}
	return nil
}

func startDemo(ctx context.Context, program string) (*demo, func(), error) {
	cmd := exec.CommandContext(ctx, program, "demo", "--addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	d := &demo{lines: make(chan string, 1000)}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			d.lines <- lines.Text()
		}
	}()
	end := func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // the demo deletes its folder
		_ = in.Close()
	}
	url, err := d.read(regexp.MustCompile(`pages +(http://\S+)`))
	d.url = url
	if err != nil {
		end()
	}
	return d, end, err
}

// read returns what the next line of the demo has that matches pattern: its first group.
func (d *demo) read(pattern *regexp.Regexp) (string, error) {
	late := time.After(time.Minute)
	for {
		select {
		case line := <-d.lines:
			if m := pattern.FindStringSubmatch(line); m != nil {
				return m[1], nil
			}
		case <-late:
			return "", fmt.Errorf("the demo printed nothing like %s", pattern)
		}
	}
}

// signIn signs a person in. The demo prints the code.
func (d *demo) signIn(ctx context.Context, by person) error {
	if by == asked {
		return nil
	}
	role := by.role
	if role != "coach" {
		role = "family"
	}
	err := chromedp.Run(ctx, chromedp.Navigate(d.url+"/sign-in/"+role),
		chromedp.Evaluate(`for (const e of document.querySelectorAll('[name=role][value=guardian]')) e.checked = true; number.value = '`+by.number+`'; document.querySelector('main button').click()`, nil))
	if err != nil {
		return err
	}
	code, err := d.read(regexp.MustCompile(`\b(\d{6})\b`))
	if err != nil {
		return err
	}
	return chromedp.Run(ctx, chromedp.WaitVisible("#code"), chromedp.SetValue("#code", code), chromedp.Click("main button.wide"), chromedp.Sleep(time.Second))
}

// find opens paths[0], follows a link for each further one, and returns the last address.
func (d *demo) find(ctx context.Context, paths []string) (string, error) {
	address := d.url + paths[0]
	for _, pattern := range paths[1:] {
		var links []string
		err := chromedp.Run(ctx, chromedp.Navigate(address), chromedp.Evaluate(`[...document.querySelectorAll('main a')].map((a) => a.getAttribute('href'))`, &links))
		if err != nil {
			return "", err
		}
		found := false
		for _, link := range links {
			if found = regexp.MustCompile(pattern).MatchString(link); found {
				address = d.url + link
				break
			}
		}
		if !found {
			return "", fmt.Errorf("%s has no link %s: %q", address, pattern, links)
		}
	}
	return address, nil
}

// ask adds a player as the signed-in coach, so that a guardian is asked, and returns the link.
func (d *demo) ask(ctx context.Context, by person) (string, error) {
	if err := d.signIn(ctx, coach); err != nil {
		return "", err
	}
	values := map[string]string{"student_name": "Ishaan Kulkarni", "date_of_birth": "2015-03-09", "guardian_name": "Rekha Kulkarni", "relationship": "mother", "guardian_number": by.number}
	set := ""
	for name, value := range values {
		set += fmt.Sprintf("document.querySelector('[name=%s]').value = %q;", name, value)
	}
	err := chromedp.Run(ctx, chromedp.Navigate(d.url+"/coach/players/add"), chromedp.Evaluate(set+`for (const e of [...document.querySelectorAll('[name=batch]')].slice(-1)) e.checked = true; document.querySelector('main form button').click()`, nil))
	if err != nil {
		return "", err
	}
	return d.read(regexp.MustCompile(`(http://\S+/a/\S+)`))
}

// capture draws the first view of a page on a phone.
func capture(ctx context.Context, address, path string) error {
	var picture []byte
	err := chromedp.Run(ctx,
		emulation.SetUserAgentOverride("").WithAcceptLanguage("en-IN"), emulation.SetDeviceMetricsOverride(360, 740, 1, true),
		chromedp.Navigate(address), chromedp.Sleep(100*time.Millisecond), chromedp.CaptureScreenshot(&picture))
	if err != nil {
		return err
	}
	return save(path, picture)
}

// save writes a picture with a palette, which is a third of the size.
func save(path string, picture []byte) error {
	drawn, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return err
	}
	counts := map[color.Color]int{}
	bounds := drawn.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[drawn.At(x, y)]++
		}
	}
	small := image.NewPaletted(bounds, palette(counts))
	draw.Draw(small, bounds, drawn, bounds.Min, draw.Src)
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	return errors.Join(encoder.Encode(file, small), file.Close())
}

// palette returns the most frequent colours.
func palette(counts map[color.Color]int) color.Palette {
	const most = 64
	var colours color.Palette
	for len(colours) < most && len(counts) > 0 {
		var next color.Color
		for c, n := range counts {
			if next == nil || n > counts[next] {
				next = c
			}
		}
		colours = append(colours, next)
		delete(counts, next)
	}
	return colours
}
