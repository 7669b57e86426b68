package picture_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	_ "image/jpeg"
	_ "image/png"

	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/platform/picture/picturetest"
)

// process runs Process on file and returns the written files by size.
func process(tb testing.TB, file []byte, sizes []picture.Size) (picture.Result, map[string][]byte, error) {
	tb.Helper()
	out := map[string]*bytes.Buffer{}
	made, err := picture.Process(context.Background(), bytes.NewReader(file), int64(len(file)), picture.Options{
		Sizes: sizes,
		Create: func(s picture.Size) (io.Writer, error) {
			out[s.Name] = new(bytes.Buffer)
			return out[s.Name], nil
		},
	})
	all := map[string][]byte{}
	for name, b := range out {
		all[name] = b.Bytes()
	}
	return made, all, err
}

func decodeImage(tb testing.TB, file []byte) image.Image {
	tb.Helper()
	m, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		tb.Fatalf("decode the output: %v", err)
	}
	return m
}

func testdata(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestSizes checks that the aspect ratio is kept and nothing is enlarged.
func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		w, h int
		want [3]image.Point
	}{
		{3000, 2000, [3]image.Point{{1024, 683}, {320, 213}, {96, 64}}},
		{200, 400, [3]image.Point{{200, 400}, {160, 320}, {48, 96}}},
		{50, 40, [3]image.Point{{50, 40}, {50, 40}, {50, 40}}},
		{1, 1, [3]image.Point{{1, 1}, {1, 1}, {1, 1}}},
		{9000, 2, [3]image.Point{{1024, 1}, {320, 1}, {96, 1}}},
	} {
		made, files, err := process(t, picturetest.JPEG(picturetest.FourCorners(tt.w, tt.h)), picture.ProfileSizes)
		if err != nil {
			t.Fatalf("%d × %d: %v", tt.w, tt.h, err)
		}
		for i, p := range made.Pictures {
			if got := (image.Point{p.Width, p.Height}); got != tt.want[i] || p.MediaType != picture.JPEG {
				t.Errorf("%d × %d: %s reported as %v, %s; want %v", tt.w, tt.h, p.Name, got, p.MediaType, tt.want[i])
			}
			if got := decodeImage(t, files[p.Name]).Bounds().Size(); got != tt.want[i] {
				t.Errorf("%d × %d: the file %s is %v, want %v", tt.w, tt.h, p.Name, got, tt.want[i])
			}
		}
	}
}

// near reports whether two colours are equal within the loss of JPEG.
func near(a color.Color, want color.NRGBA) bool {
	n := color.NRGBAModel.Convert(a).(color.NRGBA)
	off := func(x, y uint8) bool { return max(x, y)-min(x, y) > 24 }
	return !off(n.R, want.R) && !off(n.G, want.G) && !off(n.B, want.B) && !off(n.A, want.A)
}

// TestOrientation checks all eight orientations, with and without scaling.
func TestOrientation(t *testing.T) {
	red, green, blue, white := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 160, 0, 255}, color.NRGBA{0, 0, 255, 255}, color.NRGBA{255, 255, 255, 255}
	corners := [9][4]color.NRGBA{ // top left, top right, bottom left, bottom right
		1: {red, green, blue, white}, 2: {green, red, white, blue}, 3: {white, blue, green, red}, 4: {blue, white, red, green},
		5: {red, blue, green, white}, 6: {blue, red, white, green}, 7: {white, green, blue, red}, 8: {green, white, red, blue},
	}
	plain := picturetest.FourCorners(64, 48)
	for orientation := range corners[1:] {
		orientation++
		tiff := picturetest.EXIF(uint16(orientation))
		for name, file := range map[string][]byte{
			"jpeg": picturetest.AfterSOI(picturetest.JPEG(plain), picturetest.Segment(0xe1, append([]byte("Exif\x00\x00"), tiff...))),
			"png":  picturetest.AfterHeader(picturetest.PNG(plain), picturetest.Chunk("eXIf", tiff)),
		} {
			for _, longest := range []int{64, 32} {
				made, files, err := process(t, file, []picture.Size{{Name: "x", Longest: longest}})
				if err != nil {
					t.Fatalf("%s %d: %v", name, orientation, err)
				}
				want := image.Point{longest, longest * 3 / 4}
				if orientation >= 5 {
					want.X, want.Y = want.Y, want.X
				}
				m := decodeImage(t, files["x"])
				if m.Bounds().Size() != want {
					t.Errorf("%s %d: %v, want %v", name, orientation, m.Bounds().Size(), want)
				}
				if wide := made.Source.Width > made.Source.Height; wide != (orientation < 5) {
					t.Errorf("%s %d: Source is %d × %d", name, orientation, made.Source.Width, made.Source.Height)
				}
				for i, c := range corners[orientation] {
					x, y := want.X/4+i%2*want.X/2, want.Y/4+i/2*want.Y/2
					if !near(m.At(x, y), c) {
						t.Errorf("%s %d at %d: corner %d is %v, want %v", name, orientation, longest, i, m.At(x, y), c)
					}
				}
			}
		}
	}
}

func TestNoMetadata(t *testing.T) {
	secret := []byte("GPS 12.9716 N 77.5946 E")
	plain := picturetest.FourCorners(40, 30)
	half := picturetest.FourCorners(40, 30)
	half.SetNRGBA(0, 0, color.NRGBA{1, 2, 3, 4})
	tiff := append([]byte("Exif\x00\x00"), picturetest.EXIF(1)...)
	for name, file := range map[string][]byte{
		"jpeg": append(picturetest.AfterSOI(picturetest.JPEG(plain), picturetest.Segment(0xe1, tiff), picturetest.Segment(0xe1, append([]byte("http://ns.adobe.com/xap/1.0/\x00"), secret...)),
			picturetest.Segment(0xe2, append([]byte("ICC_PROFILE\x00\x01\x01"), secret...)), picturetest.Segment(0xfe, secret)), secret...),
		"png":             append(picturetest.AfterHeader(picturetest.PNG(plain), picturetest.Chunk("tEXt", secret), picturetest.Chunk("eXIf", picturetest.EXIF(1)), picturetest.Chunk("iTXt", secret)), secret...),
		"transparent png": append(picturetest.AfterHeader(picturetest.PNG(half), picturetest.Chunk("tEXt", secret), picturetest.Chunk("eXIf", picturetest.EXIF(1))), secret...),
	} {
		_, files, err := process(t, file, picture.DocumentSizes)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, trace := range []string{"GPS", "Exif", "eXIf", "ICC", "adobe", "tEXt"} {
			if bytes.Contains(files[""], []byte(trace)) {
				t.Errorf("%s: output contains %s", name, trace)
			}
		}
	}
}

// TestFormats checks the output type and a colour of each input format.
func TestFormats(t *testing.T) {
	half := picturetest.FourCorners(64, 64)
	for y := range 32 {
		for x := range 64 {
			half.SetNRGBA(x, y, color.NRGBA{0, 160, 0, 96})
		}
	}
	deep := image.NewNRGBA64(image.Rect(0, 0, 64, 64))
	rgb := image.NewRGBA64(deep.Rect)
	grey := image.NewGray16(deep.Rect)
	few := image.NewPaletted(deep.Rect, color.Palette{color.NRGBA{0, 160, 0, 255}, color.NRGBA{0, 0, 0, 0}})
	for i := range deep.Rect.Dx() * deep.Rect.Dy() {
		x, y := i%64, i/64
		deep.Set(x, y, color.NRGBA{0, 160, 0, 96})
		rgb.Set(x, y, color.NRGBA{0, 160, 0, 255})
		grey.Set(x, y, color.Gray{90})
		few.SetColorIndex(x, y, uint8(y/32))
	}
	green := color.NRGBA{0, 160, 0, 255}
	for _, tt := range []struct {
		name string
		file []byte
		want string
		at   color.NRGBA
	}{
		{"png", picturetest.PNG(rgb), picture.JPEG, green},
		{"png, transparent", picturetest.PNG(half), picture.PNG, color.NRGBA{0, 160, 0, 96}},
		{"png, transparent, 16 bits", picturetest.PNG(deep), picture.PNG, color.NRGBA{0, 160, 0, 96}},
		{"png, grey, 16 bits", picturetest.PNG(grey), picture.JPEG, color.NRGBA{90, 90, 90, 255}},
		{"png, palette", picturetest.PNG(few), picture.PNG, green},
		{"webp, lossy", testdata(t, "blue-purple-pink.lossy.webp"), picture.JPEG, color.NRGBA{}},
		{"webp, lossy, transparent", testdata(t, "yellow_rose.lossy-with-alpha.webp"), picture.PNG, color.NRGBA{}},
		{"webp, palette", testdata(t, "gopher-doc.8bpp.lossless.webp"), picture.JPEG, color.NRGBA{}},
		{"webp, transparent", testdata(t, "gopher-doc.with-alpha.lossless.webp"), picture.PNG, color.NRGBA{}},
		{"jpeg, progressive", picturetest.SyntheticJPEG(0xc2, 64, 64, picturetest.YUV420, 6), picture.JPEG, color.NRGBA{128, 128, 128, 255}},
		{"jpeg, 4:4:4", picturetest.SyntheticJPEG(0xc0, 64, 64, picturetest.YUV444, 0), picture.JPEG, color.NRGBA{128, 128, 128, 255}},
		{"jpeg, grey", picturetest.SyntheticJPEG(0xc0, 64, 64, []byte{0x11}, 0), picture.JPEG, color.NRGBA{128, 128, 128, 255}},
		{"jpeg, CMYK", picturetest.AfterSOI(picturetest.SyntheticJPEG(0xc0, 64, 64, []byte{0x11, 0x11, 0x11, 0x11}, 0), picturetest.Segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00"))), picture.JPEG, color.NRGBA{64, 64, 64, 255}},
	} {
		for _, longest := range []int{4096, 24} {
			made, files, err := process(t, tt.file, []picture.Size{{Longest: longest}})
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
				continue
			}
			if made.Pictures[0].MediaType != tt.want {
				t.Errorf("%s: got %s, want %s", tt.name, made.Pictures[0].MediaType, tt.want)
			}
			if m := decodeImage(t, files[""]); tt.at != (color.NRGBA{}) && !near(m.At(4, 4), tt.at) {
				t.Errorf("%s: got colour %v, want %v", tt.name, m.At(4, 4), tt.at)
			}
		}
	}
}

// TestJPEGWithoutSegments: a JPEG without the tables or the mark that browsers assume has the same pixels as with them.
func TestJPEGWithoutSegments(t *testing.T) {
	whole := picturetest.JPEG(picturetest.FourCorners(160, 96))
	start := bytes.Index(whole, []byte{0xff, 0xc4})
	end := start + 2 + int(whole[start+2])<<8 + int(whole[start+3])
	cmyk := picturetest.SyntheticJPEG(0xc0, 64, 48, []byte{0x11, 0x11, 0x11, 0x11}, 0)
	adobe := picturetest.Segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00"))
	for name, tt := range map[string]struct{ file, whole []byte }{
		"no tables (Motion JPEG)": {slices.Concat(whole[:start], whole[end:]), whole},
		"CMYK without a mark":     {cmyk, picturetest.AfterSOI(cmyk, adobe)},
	} {
		_, want, err := process(t, tt.whole, picture.DocumentSizes)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, err := process(t, tt.file, picture.DocumentSizes); err != nil || !bytes.Equal(got[""], want[""]) {
			t.Errorf("%s: %v, or other pixels", name, err)
		}
	}
}

// TestRareSamplings: the ratios of brightness and colour that cameras and programs write are read. Others are refused with a way out.
func TestRareSamplings(t *testing.T) {
	for name, tt := range map[string]struct {
		sampling []byte
		refused  bool
	}{
		"4:4:0": {[]byte{0x12, 0x11, 0x11}, false}, "4:1:1": {[]byte{0x41, 0x11, 0x11}, false}, "4:1:0": {[]byte{0x42, 0x11, 0x11}, false},
		"4:4:4, doubled": {[]byte{0x12, 0x12, 0x12}, false}, "4:2:0 of CMYK": {[]byte{0x22, 0x11, 0x11, 0x22}, false}, "grey": {[]byte{0x22}, false},
		"a third": {[]byte{0x31, 0x11, 0x11}, true}, "a fraction": {[]byte{0x22, 0x21, 0x12}, true}, "a high quarter": {[]byte{0x14, 0x11, 0x11}, true},
		"more colour": {[]byte{0x11, 0x22, 0x22}, true},
	} {
		_, _, err := process(t, picturetest.SyntheticJPEG(0xc0, 64, 64, tt.sampling, 0), picture.DocumentSizes)
		e, _ := errors.AsType[*picture.FileError](err)
		if refused := e != nil && e.Code == picture.Unreadable && strings.Contains(e.Detail, "save it as an ordinary JPEG, or send a screenshot"); refused != tt.refused || !refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLossyWebPColours: a lossy WebP has the colours of the same picture in another format, which is within 2 levels. VP8 stores a
// limited range: its black is 16.
func TestLossyWebPColours(t *testing.T) {
	_, files, err := process(t, testdata(t, "ramp.lossy.webp"), []picture.Size{{Name: "x", Longest: 4096}})
	if err != nil {
		t.Fatal(err)
	}
	m := decodeImage(t, files["x"])
	for i, want := range []color.NRGBA{{0, 0, 0, 255}, {64, 64, 64, 255}, {128, 128, 128, 255}, {192, 192, 192, 255}, {255, 255, 255, 255}, {255, 0, 0, 255}, {0, 0, 255, 255}} {
		got := color.NRGBAModel.Convert(m.At(32*i+16, 16)).(color.NRGBA)
		off := func(a, b uint8) int { return int(max(a, b) - min(a, b)) }
		if most := max(off(got.R, want.R), off(got.G, want.G), off(got.B, want.B)); most > 3 {
			t.Errorf("colour %d: got %v, want %v", i, got, want)
		}
	}
}

// TestLongPictures: pictures that are halved before they are scaled keep their sides and colours.
func TestLongPictures(t *testing.T) {
	for _, tt := range []struct{ width, height, stored, other int }{{7499, 200, 4096, 109}, {7601, 201, 3800, 100}, {8160, 120, 4080, 60}, {201, 9001, 91, 4096}, {9001, 1, 4096, 1}, {9000, 2, 4096, 1}} {
		_, files, err := process(t, picturetest.JPEG(picturetest.FourCorners(tt.width, tt.height)), picture.DocumentSizes)
		if err != nil {
			t.Errorf("%d × %d: %v", tt.width, tt.height, err)
			continue
		}
		m := decodeImage(t, files[""])
		if got := m.Bounds().Size(); got != (image.Point{tt.stored, tt.other}) {
			t.Errorf("%d × %d became %v", tt.width, tt.height, got)
		}
		if tt.height < 100 {
			continue
		}
		for at, want := range map[image.Point]color.NRGBA{{5, 5}: {255, 0, 0, 255}, {tt.stored - 5, tt.other - 5}: {255, 255, 255, 255}, {5, tt.other - 5}: {0, 0, 255, 255}} {
			if !near(m.At(at.X, at.Y), want) {
				t.Errorf("%d × %d has %v at %v, want %v", tt.width, tt.height, m.At(at.X, at.Y), at, want)
			}
		}
	}
}

// TestDisplayP3: the colours of a profile become those of sRGB. The values are those that LittleCMS gives.
func TestDisplayP3(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	flat := func(c color.NRGBA) {
		for i := range 64 * 64 {
			m.SetNRGBA(i%64, i/64, c)
		}
	}
	profile := picturetest.DisplayP3()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(profile)
	_ = z.Close()
	for _, tt := range []struct{ from, want color.NRGBA }{
		{color.NRGBA{234, 51, 35, 255}, color.NRGBA{255, 0, 0, 255}},
		{color.NRGBA{222, 170, 140, 255}, color.NRGBA{232, 167, 135, 255}},
		{color.NRGBA{128, 128, 128, 255}, color.NRGBA{128, 128, 128, 255}},
	} {
		flat(tt.from)
		transparent := image.NewNRGBA(m.Rect)
		copy(transparent.Pix, m.Pix)
		transparent.SetNRGBA(63, 63, color.NRGBA{})
		half := len(profile) / 2
		for name, file := range map[string][]byte{
			"JPEG": picturetest.AfterSOI(picturetest.JPEG(m), picturetest.Segment(0xe2, append([]byte("ICC_PROFILE\x00\x01\x01"), profile...))),
			"JPEG in two parts": picturetest.AfterSOI(picturetest.JPEG(m), picturetest.Segment(0xe2, append([]byte("ICC_PROFILE\x00\x01\x02"), profile[:half]...)),
				picturetest.Segment(0xe2, append([]byte("ICC_PROFILE\x00\x02\x02"), profile[half:]...))),
			"PNG":             picturetest.AfterHeader(picturetest.PNG(m), picturetest.Chunk("iCCP", append([]byte("P3\x00\x00"), packed.Bytes()...))),
			"transparent PNG": picturetest.AfterHeader(picturetest.PNG(transparent), picturetest.Chunk("iCCP", append([]byte("P3\x00\x00"), packed.Bytes()...))),
		} {
			for _, sizes := range [][]picture.Size{{{"", 4096}}, {{"", 16}}} {
				_, out, err := process(t, file, sizes)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got := decodeImage(t, out[""]).At(8, 8); !within(got, tt.want, 3) {
					t.Errorf("%s, %v: %v became %v, want %v", name, sizes, tt.from, got, tt.want)
				}
			}
		}
	}
	// A damaged profile changes nothing.
	flat(color.NRGBA{234, 51, 35, 255})
	for end := range len(profile) {
		if end%13 != 0 {
			continue
		}
		broken := picturetest.AfterSOI(picturetest.JPEG(m), picturetest.Segment(0xe2, append([]byte("ICC_PROFILE\x00\x01\x01"), profile[:end]...)))
		_, out, err := process(t, broken, picture.DocumentSizes)
		if err != nil {
			t.Fatalf("%d bytes of the profile: %v", end, err)
		}
		if got := decodeImage(t, out[""]).At(8, 8); !within(got, color.NRGBA{234, 51, 35, 255}, 3) {
			t.Errorf("%d bytes of the profile: %v", end, got)
		}
	}
}

// within reports whether no value differs by more than levels.
func within(a color.Color, want color.NRGBA, levels int) bool {
	got := color.NRGBAModel.Convert(a).(color.NRGBA)
	for _, v := range [][2]uint8{{got.R, want.R}, {got.G, want.G}, {got.B, want.B}} {
		if d := int(v[0]) - int(v[1]); d > levels || d < -levels {
			return false
		}
	}
	return true
}

// TestJPEGWithoutEnd: some phones write no end-of-image marker, or zeros in its place. A file that lacks pixels is refused.
func TestJPEGWithoutEnd(t *testing.T) {
	file := picturetest.JPEG(picturetest.FourCorners(160, 96))
	whole := file[:len(file)-2]
	_, want, err := process(t, file, picture.DocumentSizes)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"no marker": whole, "zeros": append(bytes.Clone(whole), make([]byte, 3000)...), "half a marker": append(bytes.Clone(whole), 0xff)} {
		_, out, err := process(t, file, picture.DocumentSizes)
		if err != nil || !bytes.Equal(out[""], want[""]) {
			t.Errorf("%s: %v, or other pixels", name, err)
		}
	}
	for _, end := range []int{len(whole) - 40, len(whole) * 3 / 4} {
		for name, file := range map[string][]byte{"cut off": whole[:end], "cut off, zeros": append(bytes.Clone(whole[:end]), make([]byte, 3000)...)} {
			_, _, err := process(t, file, picture.DocumentSizes)
			if wrong, ok := errors.AsType[*picture.FileError](err); !ok || wrong.Code != picture.Truncated {
				t.Errorf("%s at %d of %d: %v, want truncated", name, end, len(whole), err)
			}
		}
	}
}
