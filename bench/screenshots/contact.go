package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// links are the parts of addresses that the demo makes: the first group of the first link on a page that matches.
var links = []struct {
	name string
	by   person
	on   string
	link *regexp.Regexp
}{
	{"player", coach, "/coach/players?q=Asha", regexp.MustCompile(`^/coach/players/([0-9a-f-]{36})$`)},
	{"batch", coach, "/coach/batches", regexp.MustCompile(`^/coach/batches/([0-9a-f-]{36})$`)},
	{"day", coach, "/coach/batches/{batch}", regexp.MustCompile(`/attendance/(\d{4}-\d\d-\d\d)$`)},
	{"training", coach, "/coach/batches/{batch}", regexp.MustCompile(`^/coach/trainings/([0-9a-f-]{36}\.[0-9-]+|[0-9a-f-]{36})$`)},
	{"message", coach, "/coach/messages", regexp.MustCompile(`^/coach/messages/([0-9a-f-]{36})`)},
	{"talk", coach, "/coach/players/{player}", regexp.MustCompile(`^/coach/conversations/(\S+)$`)},
	{"fee", coach, "/coach/fees?state=all", regexp.MustCompile(`^/coach/fees/([0-9a-f-]{36})$`)},
	{"child", guardian, "/me/guardian", regexp.MustCompile(`^/me/guardian/players/([0-9a-f-]{36})$`)},
	{"due", guardian, "/me/guardian/players/{child}/fees", regexp.MustCompile(`/fees/([0-9a-f-]{36})$`)},
}

// contactPages are the pages of the contact sheets, by person.
var contactPages = map[person][]string{
	coach: strings.Fields(`/coach /coach/more /coach/family-view /coach/players /coach/players?select=1 /coach/players?show=needs /coach/players/add /coach/players/import /coach/players/remind
		/coach/players/sheet?batch={batch} /coach/players/{player} /coach/players/{player}?tab=history /coach/players/{player}?tab=details /coach/players/{player}/edit /coach/players/{player}/attendance
		/coach/players/{player}/progress /coach/players/{player}/reports /coach/players/{player}/guardians/add /coach/players/{player}/remove
		/coach/batches /coach/batches/add /coach/batches/{batch} /coach/batches/{batch}/edit /coach/batches/{batch}/players /coach/batches/{batch}/attendance/{day} /coach/batches/{batch}/trainings/add
		/coach/trainings/{training} /coach/trainings/{training}/edit /coach/trainings/{training}/cancel /coach/calendar
		/coach/messages /coach/messages/write /coach/conversations/{talk} /coach/messages/{message} /coach/messages/templates
		/coach/fees /coach/fees/add /coach/fees/{fee} /coach/fees/upi /coach/notifications /coach/profile /coach/visibility /coach/verification /coach/documents/add
		/coach/settings /coach/settings/passkeys /coach/settings/number /coach/settings/plan /coach/settings/plan/pro /coach/settings/close`),
	guardian: strings.Fields(`/ /coaches /sign-in/coach /sign-in/family /a {question} {question}/later {question}/not-me /notice /verify
		/me/guardian /me/guardian/players/{child} /me/guardian/players/{child}/schedule /me/guardian/players/{child}/attendance /me/guardian/players/{child}/messages /me/guardian/players/{child}/progress
		/me/guardian/players/{child}/reports /me/guardian/players/{child}/fees /me/guardian/players/{child}/fees/{due} /me/guardian/players/{child}/check?action=revoked /me/guardian/messages /me/guardian/settings
		/me/guardian/devices /me/guardian/passkeys /me/guardian/number /me/guardian/disputes /me/guardian/receipts /me/guardian/export /me/guardian/delete`),
}

// tile is the first view of a page, or nothing if the program has no such page.
type tile struct{ path, png string }

// sheet names a contact sheet.
type sheet struct {
	by    person
	width int64
}

// drawContact draws contact sheets of both programs: each page before and after, for coaches and families, at 360 and 1280 px.
// It draws one program after the other, because they share the browser's cookies.
func drawContact(ctx context.Context, before, after *demo, to string) error {
	sheets := map[sheet][2][]tile{}
	for i, d := range []*demo{before, after} {
		question, err := d.ask(ctx, asked) // signs the coach in
		if err != nil {
			return err
		}
		d.addresses = map[string]string{"{question}": strings.TrimPrefix(question, d.url)}
		for _, by := range []person{coach, guardian} {
			if by != coach {
				if err := errors.Join(chromedp.Run(ctx, network.ClearBrowserCookies()), d.signIn(ctx, by)); err != nil {
					return err
				}
			}
			if err := d.findAddresses(ctx, by); err != nil {
				return err
			}
			for _, width := range []int64{360, 1280} {
				tiles := sheets[sheet{by, width}]
				for _, path := range contactPages[by] {
					t, err := d.tile(ctx, path, width)
					if err != nil {
						return fmt.Errorf("%s: %w", path, err)
					}
					tiles[i] = append(tiles[i], t)
				}
				sheets[sheet{by, width}] = tiles
			}
		}
	}
	for s, tiles := range sheets {
		if err := drawSheet(ctx, tiles, s.width, filepath.Join(to, fmt.Sprintf("before-after-%s-%d.jpg", strings.Replace(s.by.role, "guardian", "family", 1), s.width))); err != nil {
			return err
		}
	}
	return nil
}

// findAddresses finds the addresses of the demo that a person sees.
func (d *demo) findAddresses(ctx context.Context, by person) error {
	for _, l := range links {
		if l.by != by {
			continue
		}
		var found []string
		err := chromedp.Run(ctx, chromedp.Navigate(d.url+d.fill(l.on)), chromedp.Evaluate(`[...document.querySelectorAll('main a')].map((a) => a.getAttribute('href'))`, &found))
		if err != nil {
			return err
		}
		for _, link := range found {
			if m := l.link.FindStringSubmatch(link); m != nil {
				d.addresses["{"+l.name+"}"] = m[1]
				break
			}
		}
	}
	return nil
}

// fill puts the addresses of the demo into a path.
func (d *demo) fill(path string) string {
	for name, value := range d.addresses {
		path = strings.ReplaceAll(path, name, value)
	}
	return path
}

func (d *demo) tile(ctx context.Context, path string, width int64) (tile, error) {
	height, scale := int64(740), 0.5
	if width > 600 {
		height, scale = 800, 0.25
	}
	t := tile{path: path}
	resp, err := chromedp.RunResponse(ctx,
		emulation.SetUserAgentOverride("").WithAcceptLanguage("en-IN"), emulation.SetDeviceMetricsOverride(width, height, 1, width < 600), chromedp.Navigate(d.url+d.fill(path)))
	if err != nil || resp.Status != 200 {
		return t, err
	}
	var picture []byte
	err = chromedp.Run(ctx, chromedp.Sleep(100*time.Millisecond), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		picture, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).WithClip(&page.Viewport{Width: float64(width), Height: float64(height), Scale: scale}).Do(ctx)
		return err
	}))
	t.png = base64.StdEncoding.EncodeToString(picture)
	return t, err
}

// drawSheet draws pairs of tiles in rows.
func drawSheet(ctx context.Context, tiles [2][]tile, width int64, path string) error {
	tileWidth, tileHeight, inRow := 180, 370, 6
	if width > 600 {
		tileWidth, tileHeight, inRow = 320, 200, 4
	}
	var html strings.Builder
	fmt.Fprintf(&html, `<!doctype html><style>body{margin:8px;background:#777;font:12px sans-serif;color:#fff;display:grid;gap:10px 16px;grid-template-columns:repeat(%d,max-content)}figure{margin:0;display:grid;grid-template-columns:%[2]dpx %[2]dpx;gap:4px}figcaption{grid-column:1/-1;height:1.2em;overflow:hidden;width:0;min-width:100%%}img,i{width:%[2]dpx;height:%[3]dpx}i{background:#999;text-align:center;line-height:%[3]dpx}</style>`, inRow, tileWidth, tileHeight)
	for i, t := range tiles[0] {
		fmt.Fprintf(&html, `<figure><figcaption>%s</figcaption>`, t.path)
		for _, png := range []string{t.png, tiles[1][i].png} {
			if png == "" {
				html.WriteString(`<i>not there</i>`)
			} else {
				fmt.Fprintf(&html, `<img src="data:image/png;base64,%s">`, png)
			}
		}
		html.WriteString(`</figure>`)
	}
	var picture []byte
	sheetWidth := int64(inRow*(2*tileWidth+4+16) + 16)
	err := chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(sheetWidth, 800, 1, false), chromedp.Navigate("about:blank"), chromedp.ActionFunc(func(ctx context.Context) error {
		tree, err := page.GetFrameTree().Do(ctx)
		if err != nil {
			return err
		}
		return page.SetDocumentContent(tree.Frame.ID, html.String()).Do(ctx)
	}), chromedp.Sleep(time.Second), chromedp.FullScreenshot(&picture, 72))
	if err != nil {
		return err
	}
	return os.WriteFile(path, picture, 0o644)
}
