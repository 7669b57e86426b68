package qr_test

import (
	"encoding/xml"
	"image"
	"image/color"
	"image/draw"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"github.com/touchline/touchline/internal/platform/qr"
)

// TestSVG: another library reads from the drawing what was encoded.
func TestSVG(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		qr.AnswerURL("http://127.0.0.1:8080", "ABCDEF"),
		qr.AnswerURL("https://touchline.a-rather-long-name-of-a-club.example.org:8443", "WXYZ23"),
		"upi://pay?pa=meera@upi&pn=Meera%20Nair&am=500.00&cu=INR&tr=0191f8e4b7d07c6f8a2b3c4d5e6f7081",
	} {
		svg, err := qr.SVG(content, "QR code")
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, string(svg)); got != content {
			t.Errorf("the code reads %q, want %q", got, content)
		}
	}
}

// TestSVGLabel: the label cannot end its attribute.
func TestSVGLabel(t *testing.T) {
	t.Parallel()
	const label = `Code for "Asha" <script>alert(1)</script> & 'Ravi'`
	svg, err := qr.SVG("ABCDEF", label)
	if err != nil {
		t.Fatal(err)
	}
	var element struct {
		Label string `xml:"aria-label,attr"`
	}
	if err := xml.Unmarshal([]byte(svg), &element); err != nil {
		t.Fatal(err)
	}
	if element.Label != label || strings.Contains(string(svg), "<script") {
		t.Errorf("label %q, want %q, in %s", element.Label, label, svg)
	}
}

// TestSVGTooLong: content that no QR code can hold is an error, not a panic.
func TestSVGTooLong(t *testing.T) {
	t.Parallel()
	if _, err := qr.SVG(strings.Repeat("x", 5000), "QR code"); err == nil {
		t.Error("SVG of 5,000 characters returned no error")
	}
}

// TestAnswerURL: a code cannot add parameters to the address.
func TestAnswerURL(t *testing.T) {
	t.Parallel()
	if got := qr.AnswerURL("https://touchline.example", "A&b=C#"); got != "https://touchline.example/a?code=A%26b%3DC%23" {
		t.Errorf("AnswerURL = %s", got)
	}
}

var run = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1`)

// read draws the dark runs of the svg and decodes the picture.
func read(t *testing.T, svg string) string {
	t.Helper()
	const scale = 4
	side, err := strconv.Atoi(regexp.MustCompile(`viewBox="0 0 (\d+) `).FindStringSubmatch(svg)[1])
	if err != nil {
		t.Fatal(err)
	}
	picture := image.NewGray(image.Rect(0, 0, side*scale, side*scale))
	draw.Draw(picture, picture.Bounds(), image.White, image.Point{}, draw.Src)
	for _, m := range run.FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.Atoi(m[1])
		y, _ := strconv.Atoi(m[2])
		width, _ := strconv.Atoi(m[3])
		draw.Draw(picture, image.Rect(x*scale, y*scale, (x+width)*scale, (y+1)*scale), image.NewUniform(color.Black), image.Point{}, draw.Src)
	}
	bitmap, err := gozxing.NewBinaryBitmapFromImage(picture)
	if err != nil {
		t.Fatal(err)
	}
	result, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
	if err != nil {
		t.Fatalf("read the QR code: %v", err)
	}
	return result.GetText()
}
