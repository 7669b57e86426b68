package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"net/url"
	"regexp"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// The sheet has a cell for each language: the question above the answer, on a phone of 320 pixels.
const (
	cellWidth, cellHeight = 320, 640
	cellsInRow            = 5
)

// drawLanguages draws the question and the answer page in each language that the demo offers.
func (d *demo) drawLanguages(ctx context.Context, path string) error {
	question, err := d.ask(ctx, asked)
	if err != nil {
		return err
	}
	err = chromedp.Run(ctx, network.ClearBrowserCookies(), emulation.SetDeviceMetricsOverride(cellWidth, cellHeight, 1, true), chromedp.Navigate(question))
	if err != nil {
		return err
	}
	var codes []string
	err = chromedp.Run(ctx, chromedp.Evaluate(`[document.documentElement.lang, ...[...document.querySelectorAll('[data-language] [name=to]')].map((b) => b.value)]`, &codes))
	if err != nil {
		return err
	}
	shots := map[string][]image.Image{}
	capture := func(address string) error {
		for _, code := range codes {
			var picture []byte
			err := chromedp.Run(ctx, d.choose(code), chromedp.Navigate(address), chromedp.Sleep(100*time.Millisecond), chromedp.CaptureScreenshot(&picture))
			if err != nil {
				return fmt.Errorf("%s: %w", code, err)
			}
			drawn, err := png.Decode(bytes.NewReader(picture))
			if err != nil {
				return err
			}
			shots[code] = append(shots[code], drawn)
		}
		return nil
	}
	if err := capture(question); err != nil {
		return err
	}
	answer, err := d.answerPage(ctx, question)
	if err != nil {
		return err
	}
	if err := capture(answer); err != nil {
		return err
	}
	rows := (len(codes) + cellsInRow - 1) / cellsInRow
	sheet := image.NewRGBA(image.Rect(0, 0, cellsInRow*cellWidth, rows*2*cellHeight))
	for i, code := range codes {
		for j, s := range shots[code] {
			at := image.Pt(i%cellsInRow*cellWidth, (i/cellsInRow*2+j)*cellHeight)
			draw.Draw(sheet, image.Rectangle{at, at.Add(image.Pt(cellWidth-4, cellHeight-4))}, s, image.Point{}, draw.Src)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, sheet); err != nil {
		return err
	}
	return save(path, out.Bytes())
}

// choose sets the cookie with the language of this browser.
func (d *demo) choose(code string) chromedp.Action {
	u, _ := url.Parse(d.url)
	return network.SetCookie("touchline-language", code).WithDomain(u.Hostname()).WithPath("/")
}

// answerPage signs in from the page of a question and returns the address of the answer page.
func (d *demo) answerPage(ctx context.Context, question string) (address string, err error) {
	if err := chromedp.Run(ctx, d.choose("en"), chromedp.Navigate(question), chromedp.Click("main form button")); err != nil {
		return "", err
	}
	code, err := d.read(regexp.MustCompile(`\b(\d{6})\b`))
	if err != nil {
		return "", err
	}
	err = chromedp.Run(ctx, chromedp.WaitVisible("#code"), chromedp.SetValue("#code", code), chromedp.Click("main button.wide"), chromedp.Sleep(time.Second), chromedp.Location(&address))
	return address, err
}
