// Package qr draws QR codes as SVG, which stays sharp on screen and on paper.
package qr

import (
	"fmt"
	"html"
	"html/template"
	"image/color"
	"net/url"
	"strings"

	"github.com/boombuler/barcode/qr"
	lru "github.com/hashicorp/golang-lru/v2"
)

// quietZone is the white border in modules (ISO/IEC 18004, section 6.3.8).
const quietZone = 4

// AnswerURL returns the address at which a party enters its number to answer the
// request with this short code.
func AnswerURL(publicURL, shortCode string) string {
	return publicURL + "/a?code=" + url.QueryEscape(shortCode)
}

// SVG returns a QR code of content as an svg element that a page can include or a
// response can send as image/svg+xml. It has no style and no script, so a strict
// Content-Security-Policy allows it. Screen readers read label. The error says that
// content is longer than a QR code can hold.
func SVG(content, label string) (template.HTML, error) {
	drawing, ok := drawings.Get(content)
	if !ok {
		var err error
		drawing, err = draw(content)
		if err != nil {
			return "", err
		}
		drawings.Add(content, drawing)
	}
	side := drawing.size + 2*quietZone
	// The white background makes the code readable on a dark page.
	return template.HTML(fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s" shape-rendering="crispEdges">`+
			`<path fill="#fff" d="M0 0h%dv%dH0z"/><path fill="#000" d="%s"/></svg>`,
		side, side, html.EscapeString(label), side, side, drawing.path)), nil
}

// drawing is a QR code: its size in modules, and its dark modules as an SVG path.
type drawing struct {
	size int
	path string
}

// drawings are the codes that were drawn last, by content. Drawing one takes about 1 ms,
// and a coach shows the same codes again. An entry has about 4 KB.
var drawings = newDrawings(256)

func newDrawings(size int) *lru.Cache[string, drawing] {
	cache, err := lru.New[string, drawing](size)
	if err != nil {
		panic(err) // the size is positive
	}
	return cache
}

func draw(content string) (drawing, error) {
	// Level M restores 15 % of the code: a crease or a stain on a printed sheet.
	code, err := qr.Encode(content, qr.M, qr.Auto)
	if err != nil {
		return drawing{}, fmt.Errorf("encode %d bytes as a QR code: %w", len(content), err)
	}
	size := code.Bounds().Dx()
	dark := func(x, y int) bool { return x < size && code.At(x, y) == color.Black }
	var path strings.Builder
	for y := range size {
		for x := 0; x < size; x++ {
			start := x
			for dark(x, y) {
				x++
			}
			if x > start {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", start+quietZone, y+quietZone, x-start, x-start)
			}
		}
	}
	return drawing{size, path.String()}, nil
}
