package picture

import (
	"bytes"
	"io"
	"regexp"

	"github.com/gabriel-vasile/mimetype"
)

const (
	// pdfStart is the number of first bytes in which readers look for %PDF-: some programs write a line or a byte order mark before.
	pdfStart = 1024
	// pdfTail is the number of last bytes that must contain %%EOF. Scanners and mail programs append zeros or a page.
	pdfTail = 64 << 10
)

const (
	// zipTail is the number of last bytes in which programs look for a ZIP end record: 22
	// bytes and a comment of up to 64 KiB.
	zipTail = 22 + 0xffff
	// zipBlock is the number of bytes that isZIP reads at once.
	zipBlock = 32 << 10
)

// markup lists strings that a browser would take for a page, and that no PDF has in
// its first kilobytes.
var markup = []string{"<!doctype", "<html", "<head", "<body", "<script", "<svg", "<iframe", "<?php", "<?xml-stylesheet"}

// beginsPDF reports whether readers take a file for a PDF. What is before %PDF- may be no file of another type.
func beginsPDF(head []byte) bool {
	at := bytes.Index(head[:min(len(head), pdfStart+len("%PDF-"))], []byte("%PDF-"))
	if at < 0 || containsAny(bytes.ToLower(head[:at]), markup) {
		return false
	}
	before := mimetype.Detect(head[:at])
	return at == 0 || before.Is("text/plain") || before.Is("application/octet-stream")
}

// inspectPDF is strict because a PDF is stored unchanged: it must begin in the
// first kilobyte, have an end, and not be a ZIP archive (JAR, Office, APK …) or a page
// as well, nor carry an archive. It does not look for scripts in the PDF, whose content is usually
// compressed. The service serves a PDF as a download, and a virus scanner may check it.
func inspectPDF(r io.ReaderAt, size int64, head []byte) (Info, error) {
	if lower := bytes.ToLower(withoutStrings(head)); containsAny(lower, markup) {
		return Info{}, fileError(Ambiguous, "The file is both a PDF and a web page. Print it to a new PDF and send that one.")
	}
	archive, err := isZIP(r, size)
	if err != nil {
		return Info{}, err
	}
	if archive {
		return Info{}, fileError(Ambiguous, "The file is a PDF with a ZIP archive in it. Print it to a new PDF and send that one.")
	}
	end := make([]byte, min(size, pdfTail))
	if err := readAt(r, end, size-int64(len(end))); err != nil {
		return Info{}, err
	}
	if !bytes.Contains(end, []byte("%%EOF")) {
		return Info{}, fileError(Truncated, "The PDF has no end. It is incomplete or damaged. Print it to a new PDF and send that one.")
	}
	return Info{MediaType: PDF}, nil
}

// withoutStrings returns what is outside of the strings and streams of a PDF: comments of readers and fonts have markup in them.
func withoutStrings(b []byte) []byte {
	var out []byte
	depth, comment := 0, false // of parentheses
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case comment:
			comment = c != '\n' && c != '\r'
			out = append(out, c)
		case depth > 0:
			switch c {
			case '\\':
				i++
			case '(':
				depth++
			case ')':
				depth--
			}
		case c == '(':
			depth++
		case bytes.HasPrefix(b[i:], []byte("stream\n")), bytes.HasPrefix(b[i:], []byte("stream\r\n")):
			length := bytes.Index(b[i:], []byte("endstream"))
			if length < 0 {
				return out
			}
			i += length + len("endstream") - 1
		default:
			comment = c == '%'
			out = append(out, c)
		}
	}
	return out
}

// encryptEntry is the entry of a trailer that says that a PDF is encrypted (ISO 32000-2, table 15).
var encryptEntry = regexp.MustCompile(`/Encrypt(\s+\d{1,10}\s+\d{1,5}\s+R|\s*<<)`)

// encryptLength is the longest encryptEntry that IsEncrypted finds, in bytes.
const encryptLength = 64

// IsEncrypted reports whether a PDF is protected by a password: to open it, or to change or print it.
func IsEncrypted(r io.ReaderAt, size int64) (bool, error) {
	block := make([]byte, zipBlock)
	for at := int64(0); at < size; at += zipBlock - encryptLength {
		b := block[:min(int64(len(block)), size-at)]
		if err := readAt(r, b, at); err != nil {
			return false, err
		}
		if encryptEntry.Match(b) {
			return true, nil
		}
	}
	return false, nil
}

func containsAny(b []byte, words []string) bool {
	for _, w := range words {
		if bytes.Contains(b, []byte(w)) {
			return true
		}
	}
	return false
}

// isZIP reports whether a program could open the file as a ZIP archive. It does not believe
// the numbers of the end record, because programs repair them in many ways. Either of these
// is enough:
//
//   - an end record where programs look for one, in the last zipTail bytes
//   - a file header and a directory entry, anywhere. One signature of four bytes alone is in
//     1 of 400 files of 10 MiB by chance.
func isZIP(r io.ReaderAt, size int64) (bool, error) {
	var header, entry bool
	block := make([]byte, zipBlock)
	for at := int64(0); at < size; at += zipBlock - 3 { // a signature may cross blocks
		b := block[:min(int64(len(block)), size-at)]
		if err := readAt(r, b, at); err != nil {
			return false, err
		}
		header = header || bytes.Contains(b, []byte("PK\x03\x04"))
		entry = entry || bytes.Contains(b, []byte("PK\x01\x02"))
		if header && entry {
			return true, nil
		}
		if tail := max(0, size-zipTail-at); tail < int64(len(b)) && bytes.Contains(b[tail:], []byte("PK\x05\x06")) {
			return true, nil
		}
	}
	return false, nil
}
