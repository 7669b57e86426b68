package picture_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/touchline/touchline/internal/platform/picture/picturetest"
)

// upload is a file that a client might send.
type upload struct {
	Name  string
	Bytes []byte
	// Want is the code of the expected FileError; "" if the file is accepted,
	// harmless or made harmless.
	Want string
}

// smallPDF is a small valid PDF.
const smallPDF = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

// script is a script that no output may contain.
const script = "<script>alert(document.domain)</script>"

// hostileUploads returns uploads that pretend to be another type, exhaust memory or time,
// or carry a payload. Callers must not change them.
var hostileUploads = sync.OnceValue(func() []upload {
	plain := picturetest.FourCorners(64, 48)
	png, jpeg := picturetest.PNG(plain), picturetest.JPEG(plain)
	lossless, archive, big := picturetest.FlatLossless(64, 48, false), zipArchive(), zlibZeros(64<<20)
	tiff := append([]byte("Exif\x00\x00"), picturetest.EXIF(6)...)
	with := func(b []byte, more ...string) []byte { return append(slices.Clone(b), strings.Join(more, "")...) }
	cut := func(b []byte, n int) []byte { return slices.Clone(b[:n]) }
	return []upload{
		{"empty", nil, "unsupported_type"},
		{"one byte", []byte{0xff}, "unsupported_type"},
		{"zeros", make([]byte, 10_000), "unsupported_type"},
		{"a web page", []byte("<!DOCTYPE html>" + script), "unsupported_type"},
		{"SVG", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), "unsupported_type"},
		{"SVG with a preamble", []byte("<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\">" + script + "</svg>"), "unsupported_type"},
		{"a shell script", []byte("#!/bin/sh\nrm -rf /\n"), "unsupported_type"},
		{"PHP", []byte("<?php system($_GET[1]);"), "unsupported_type"},
		{"a program", append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 100)...), "unsupported_type"},
		{"a ZIP archive", archive, "unsupported_type"},
		{"GIF", []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), "unsupported_type"},
		{"GIF and JavaScript", []byte("GIF89a=1;alert(document.domain)//"), "unsupported_type"},
		{"BMP", append([]byte("BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00"), make([]byte, 60)...), "unsupported_type"},
		{"TIFF", append([]byte("II*\x00\x08\x00\x00\x00"), make([]byte, 60)...), "unsupported_type"},
		{"a page, then a PNG", with([]byte("<html>"), string(png)), "unsupported_type"},
		{"a page, then a PDF", []byte("<html>" + script + smallPDF), "unsupported_type"},

		{"PDF", []byte(smallPDF), ""},
		{"PDF without an end", []byte(smallPDF[:60]), "truncated"},
		{"a line, then a PDF", []byte("\r\n" + smallPDF), ""},
		{"a byte order mark, then a PDF", []byte("\xef\xbb\xbf" + smallPDF), ""},
		{"656 bytes, then a PDF", []byte(strings.Repeat("header\x00\n", 82) + smallPDF), ""},
		{"1,024 bytes, then a PDF", []byte(strings.Repeat(" ", 1024) + smallPDF), ""},
		{"1,025 bytes, then a PDF", []byte(strings.Repeat(" ", 1025) + smallPDF), "unsupported_type"},
		{"a script, then a PDF", []byte("#!/bin/sh\nrm -rf /\n" + smallPDF), "unsupported_type"},
		{"a GIF, then a PDF", []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;" + smallPDF), "unsupported_type"},
		{"a program, then a PDF", append(append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 100)...), smallPDF...), "unsupported_type"},
		{"markup, then a PDF", []byte("x = 1\n" + script + smallPDF), "unsupported_type"},
		{"PDF with 2000 bytes after its end", []byte(smallPDF + strings.Repeat("\x00", 2000)), ""},
		{"PDF with a page after its end", append(pdfWith(make([]byte, 4000)), "<!DOCTYPE html>"+script...), ""},
		{"PDF with 70,000 bytes after its end", []byte(smallPDF + strings.Repeat(" ", 70_000)), "truncated"},
		{"PDF with a comment in rich text", pdfWith([]byte(`3 0 obj<</RC(<?xml version="1.0"?><body xmlns="x">\) <p>(Good\)</p></body>)>>endobj`)), ""},
		{"PDF with markup in a font", pdfWith([]byte("3 0 obj<<>>stream\n(<svg <head\nendstream endobj")), ""},
		{"PDF with markup after a string", pdfWith([]byte(`3 0 obj<</T(a(b)c)>>` + script)), "ambiguous_type"},
		{"PDF with markup in a comment of the file", pdfWith([]byte("% (" + script + "\n)")), "ambiguous_type"},
		{"PDF and web page", []byte("%PDF-1.4\n" + script + smallPDF[8:]), "ambiguous_type"},
		{"PDF and ZIP", append([]byte(smallPDF), append(archive, "%%EOF"...)...), "ambiguous_type"},
		{"PDF and ZIP, comment longer than the file", pdfWith(withEnd(archive, 20, 0xffff)), "ambiguous_type"},
		{"PDF and ZIP, comment shorter than the rest", pdfWith(withEnd(archive, 20, 1)), "ambiguous_type"},
		{"PDF and ZIP, directory at a wrong offset", pdfWith(withEnd(archive, 16, 0x1234)), "ambiguous_type"},
		{"PDF and ZIP, directory of a wrong size", pdfWith(withEnd(archive, 12, 1)), "ambiguous_type"},
		{"PDF and ZIP, wrong number of entries", pdfWith(withEnd(archive, 10, 0xffff)), "ambiguous_type"},
		{"PDF and ZIP, 70 kB after the end record", pdfWith(append(slices.Clone(archive), make([]byte, 70_000)...)), "ambiguous_type"},
		{"PDF and ZIP, 70 kB between the entries and their directory", pdfWith(spread(archive, 70_000)), "ambiguous_type"},
		{"PDF and ZIP without an end record", pdfWith(archive[:len(archive)-22]), "ambiguous_type"},
		{"PDF and empty ZIP with a wrong comment", pdfWith(withEnd([]byte("PK\x05\x06"+strings.Repeat("\x00", 18)), 20, 0xffff)), "ambiguous_type"},
		{"PDF with one signature of a ZIP by chance", pdfWith([]byte("PK\x03\x04")), ""},
		{"PDF with another one, far from its end", pdfWith(append([]byte("PK\x05\x06"), make([]byte, 70_000)...)), ""},
		{"PDF's first line alone", []byte("%PDF-"), "truncated"},

		{"PNG, then a ZIP", append(slices.Clone(png), archive...), ""},
		{"PNG, then a page", with(png, script), ""},
		{"PNG with a page in its text", picturetest.AfterHeader(png, picturetest.Chunk("tEXt", []byte("Comment\x00"+script))), ""},
		{"PNG whose text inflates to 64 MB", picturetest.AfterHeader(png, picturetest.Chunk("zTXt", append([]byte("Comment\x00\x00"), big...))), ""},
		{"PNG whose profile inflates to 64 MB", picturetest.AfterHeader(png, picturetest.Chunk("iCCP", append([]byte("icc\x00\x00"), big...))), ""},
		{"PNG whose pixels inflate to 64 MB", bytes.Join([][]byte{[]byte(picturetest.Signature), picturetest.Header(64, 48, 8, 6, 0), picturetest.Chunk("IDAT", big), picturetest.Chunk("IEND", nil)}, nil), "unreadable_picture"},
		{"PNG that claims 50000 × 50000", bytes.Join([][]byte{[]byte(picturetest.Signature), picturetest.Header(50_000, 50_000, 8, 6, 0), picturetest.Chunk("IDAT", zlibZeros(1000)), picturetest.Chunk("IEND", nil)}, nil), "too_many_pixels"},
		{"PNG that claims 4294967295 × 1", bytes.Join([][]byte{[]byte(picturetest.Signature), picturetest.Header(1<<32-1, 1, 8, 6, 0), picturetest.Chunk("IDAT", nil), picturetest.Chunk("IEND", nil)}, nil), "too_many_pixels"},
		{"PNG of 0 × 0", bytes.Join([][]byte{[]byte(picturetest.Signature), picturetest.Header(0, 0, 8, 6, 0), picturetest.Chunk("IDAT", nil), picturetest.Chunk("IEND", nil)}, nil), "unreadable_picture"},
		{"PNG of 20001 × 1", picturetest.SyntheticPNG(20_001, 1, 8, 0, 0), "too_many_pixels"},
		{"PNG of 4097 × 4096", picturetest.SyntheticPNG(4097, 4096, 1, 0, 0), ""},
		{"PNG of 8193 × 6400", picturetest.SyntheticPNG(8193, 6400, 1, 0, 0), "too_many_pixels"},
		{"PNG of 8192 × 6400, 8 bits, alpha", picturetest.SyntheticPNG(8192, 6400, 8, 6, 0), "needs_too_much_memory"},
		{"PNG of 5160 × 3876, 8 bits, alpha", picturetest.SyntheticPNG(5160, 3876, 8, 6, 0), ""}, // 20 megapixels, as the pages say
		{"PNG of 5712 × 4284, 8 bits, alpha", picturetest.SyntheticPNG(5712, 4284, 8, 6, 0), "needs_too_much_memory"},
		{"JPEG of 5712 × 4284", picturetest.SyntheticJPEG(0xc0, 5712, 4284, picturetest.YUV420, 1), ""},
		{"JPEG of 8160 × 6120", picturetest.SyntheticJPEG(0xc0, 8160, 6120, picturetest.YUV420, 1), ""},
		{"JPEG of 8160 × 6120, 4:4:4", picturetest.SyntheticJPEG(0xc0, 8160, 6120, picturetest.YUV444, 1), "needs_too_much_memory"},
		{"PNG, 16 bits, interlaced, 16 MP", picturetest.SyntheticPNG(4096, 4096, 16, 0, 1, picturetest.Chunk("tRNS", []byte{0, 1})), "needs_too_much_memory"},
		{"PNG with too few pixels", bytes.Join([][]byte{[]byte(picturetest.Signature), picturetest.Header(4000, 4000, 8, 6, 0), picturetest.Chunk("IDAT", zlibZeros(1000)), picturetest.Chunk("IEND", nil)}, nil), "unreadable_picture"},
		{"PNG with a wrong checksum", flipByte(png, 8+25+8+20), "unreadable_picture"},
		{"PNG of an unknown depth", bytes.Join([][]byte{[]byte(picturetest.Signature), picturetest.Header(8, 8, 7, 6, 0), picturetest.Chunk("IDAT", zlibZeros(1000)), picturetest.Chunk("IEND", nil)}, nil), "unreadable_picture"},
		{"PNG without a header", bytes.Join([][]byte{[]byte(picturetest.Signature), picturetest.Chunk("IDAT", zlibZeros(1000)), picturetest.Chunk("IEND", nil)}, nil), "unreadable_picture"},
		{"PNG with two headers", picturetest.AfterHeader(png, picturetest.Header(4, 4, 8, 6, 0)), "unreadable_picture"},
		{"PNG without pixels", bytes.Join([][]byte{[]byte(picturetest.Signature), picturetest.Header(8, 8, 8, 6, 0), picturetest.Chunk("IEND", nil)}, nil), "unreadable_picture"},
		{"PNG with a chunk of 2 GB", append(slices.Clone(png[:33]), "\x7f\xff\xff\xffIDAT"...), "truncated"},
		{"PNG cut in the middle", cut(png, len(png)/2), "truncated"},
		{"PNG cut before its end", cut(png, len(png)-12), "truncated"},
		{"PNG's signature", []byte(picturetest.Signature), "truncated"},
		{"animated PNG", picturetest.AfterHeader(png, picturetest.Chunk("acTL", []byte{0, 0, 0, 2, 0, 0, 0, 0})), ""},
		{"PNG with a position", picturetest.AfterHeader(png, picturetest.Chunk("eXIf", picturetest.EXIF(3))), ""},

		{"PNG of 800,000 empty chunks", picturetest.AfterHeader(png, bytes.Repeat(picturetest.Chunk("teXt", nil), 800_000)), "too_complex"},
		{"PNG of 800,000 empty pixel chunks", picturetest.AfterHeader(png, bytes.Repeat(picturetest.Chunk("IDAT", nil), 800_000)), "too_complex"},
		{"PNG of 9,000 chunks", picturetest.AfterHeader(png, bytes.Repeat(picturetest.Chunk("teXt", nil), 9_000)), ""},

		{"JPEG, then a ZIP", append(slices.Clone(jpeg), archive...), ""},
		{"JPEG with a page in its comment", picturetest.AfterSOI(jpeg, picturetest.Segment(0xfe, []byte("*/"+script+"/*"))), ""},
		{"JPEG with a position", picturetest.AfterSOI(jpeg, picturetest.Segment(0xe1, tiff)), ""},
		{"JPEG with a torn EXIF", picturetest.AfterSOI(jpeg, picturetest.Segment(0xe1, append([]byte("Exif\x00\x00MM\x00*\xff\xff\xff\xf0"), 1, 2))), ""},
		{"JPEG, CMYK", picturetest.AfterSOI(picturetest.SyntheticJPEG(0xc0, 64, 48, []byte{0x11, 0x11, 0x11, 0x11}, 0), picturetest.Segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00"))), ""},
		{"JPEG, CMYK, without saying so", picturetest.SyntheticJPEG(0xc0, 64, 48, []byte{0x11, 0x11, 0x11, 0x11}, 0), ""},
		{"JPEG of 0 × 0", withJPEGSize(jpeg, 0, 0), "unreadable_picture"},
		{"JPEG that claims 60000 × 60000", withJPEGSize(jpeg, 60_000, 60_000), "too_many_pixels"},
		{"JPEG that claims 4000 × 4000", withJPEGSize(jpeg, 4000, 4000), "unreadable_picture"},
		{"JPEG that begins twice", picturetest.AfterSOI(jpeg, picturetest.Segment(0xc0, []byte{8, 0, 8, 0, 8, 1, 1, 0x11, 0})), "unreadable_picture"},
		{"JPEG of 5000 scans", picturetest.SyntheticJPEG(0xc2, 64, 64, picturetest.YUV420, 5000), "too_complex"},
		{"JPEG of 40 scans, large", picturetest.SyntheticJPEG(0xc2, 4096, 4096, picturetest.YUV420, 40), "too_complex"},
		{"JPEG, progressive, 4:4:4, large", picturetest.SyntheticJPEG(0xc2, 4096, 4096, picturetest.YUV444, 2), "needs_too_much_memory"},
		{"JPEG, arithmetic", picturetest.SyntheticJPEG(0xc9, 64, 64, picturetest.YUV420, 0), "unreadable_picture"},
		{"JPEG, 12 bits", picturetest.AfterSOI([]byte{0xff, 0xd8, 0xff, 0xd9}, picturetest.Segment(0xc1, []byte{12, 0, 8, 0, 8, 1, 1, 0x11, 0})), "unreadable_picture"},
		{"JPEG, sampled by 15", picturetest.AfterSOI([]byte{0xff, 0xd8, 0xff, 0xd9}, picturetest.Segment(0xc0, []byte{8, 0, 8, 0, 8, 3, 1, 0xff, 0, 2, 0x11, 0, 3, 0x11, 0})), "unreadable_picture"},
		{"JPEG without a picture", []byte{0xff, 0xd8, 0xff, 0xd9}, "unreadable_picture"},
		{"JPEG of a scan without a frame", []byte("\xff\xd8\xff\xda\x00\x030\xff\xd9"), "unreadable_picture"},
		{"JPEG of 2,000,000 empty segments", picturetest.AfterSOI(jpeg, bytes.Repeat(picturetest.Segment(0xfe, nil), 2_000_000)), "too_complex"},
		{"JPEG's first bytes", []byte{0xff, 0xd8, 0xff}, "truncated"},
		{"JPEG cut in the middle", cut(jpeg, len(jpeg)/2), "truncated"},
		{"JPEG cut before its end", cut(jpeg, len(jpeg)-12), "truncated"},
		{"JPEG with damaged tables", flipByte(jpeg, bytes.Index(jpeg, []byte{0xff, 0xc4})+6), "unreadable_picture"},
		{"JPEG markers without a JPEG", append([]byte{0xff, 0xd8, 0xff, 0xe0}, bytes.Repeat([]byte("A"), 1000)...), "truncated"},

		{"WebP, then a ZIP", append(slices.Clone(lossless), archive...), ""},
		{"WebP with a position", picturetest.RIFF(picturetest.VP8X(1<<3|1<<4, 64, 48), lossless[12:], picturetest.WebPChunk("EXIF", picturetest.EXIF(6))), ""},
		{"animated WebP", picturetest.RIFF(picturetest.VP8X(1<<1, 64, 48), picturetest.WebPChunk("ANIM", make([]byte, 6)), picturetest.WebPChunk("ANMF", make([]byte, 100))), "animated_picture"},
		{"WebP larger than its canvas", picturetest.RIFF(picturetest.VP8X(0, 8, 8), picturetest.FlatLossless(4000, 4000, false)[12:]), "unreadable_picture"},
		{"WebP smaller than its canvas", picturetest.RIFF(picturetest.VP8X(1<<4, 16_384, 16_384), picturetest.WebPChunk("ALPH", make([]byte, 10)), lossless[12:]), "unreadable_picture"},
		{"WebP of 16384 × 16384 in 40 bytes", picturetest.FlatLossless(16_384, 16_384, false), "too_many_pixels"},
		{"WebP of 2600 large codes", picturetest.ManyCodes(), "needs_too_much_memory"},
		{"WebP that claims 4 GB", append([]byte("RIFF\xff\xff\xff\xffWEBPVP8 \xff\xff\xff\xf0"), make([]byte, 50)...), "truncated"},
		{"WebP cut in the middle", cut(lossless, len(lossless)/2), "truncated"},
		{"WebP of 1,000,000 empty chunks", picturetest.RIFF(picturetest.VP8X(0, 64, 48), lossless[12:], bytes.Repeat(picturetest.WebPChunk("NONE", nil), 1_000_000)), "too_complex"},
		{"WebP without a picture", picturetest.RIFF(picturetest.VP8X(0, 8, 8)), "unreadable_picture"},
		{"WebP with a valid header and no data", picturetest.RIFF(picturetest.WebPChunk("VP8 ", append([]byte{0, 0, 0, 0x9d, 1, 0x2a, 64, 0, 48, 0}, make([]byte, 40)...))), "truncated"},
		{"RIFF of another kind", append([]byte("RIFF\x24\x00\x00\x00WAVEfmt "), make([]byte, 30)...), "unsupported_type"},
	}
})

// zlibZeros returns n zeros, compressed.
func zlibZeros(n int) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	for piece := make([]byte, 1<<16); n > 0; n -= len(piece) {
		_, _ = z.Write(piece[:min(n, len(piece))])
	}
	_ = z.Close()
	return b.Bytes()
}

func zipArchive() []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("evil.html")
	_, _ = w.Write([]byte(script))
	_ = z.Close()
	return b.Bytes()
}

// pdfWith returns a PDF with b before its end.
func pdfWith(b []byte) []byte {
	body, end, _ := strings.Cut(smallPDF, "trailer")
	return slices.Concat([]byte(body), b, []byte("\ntrailer"+end))
}

// withEnd writes a number of 16 bits into the end record of a ZIP archive.
func withEnd(archive []byte, field int, value uint16) []byte {
	b := slices.Clone(archive)
	binary.LittleEndian.PutUint16(b[len(b)-22+field:], value)
	return b
}

// spread inserts n bytes before the directory of a ZIP archive.
func spread(archive []byte, n int) []byte {
	at := bytes.Index(archive, []byte("PK\x01\x02"))
	return slices.Concat(archive[:at], make([]byte, n), archive[at:])
}

// flipByte inverts one byte.
func flipByte(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 0xff
	return b
}

// withJPEGSize replaces the size in the frame header.
func withJPEGSize(b []byte, width, height uint16) []byte {
	b = slices.Clone(b)
	at := bytes.Index(b, []byte{0xff, 0xc0}) + 5
	binary.BigEndian.PutUint16(b[at:], height)
	binary.BigEndian.PutUint16(b[at+2:], width)
	return b
}
