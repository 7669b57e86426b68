package picture

import (
	"bytes"
	"io"
)

// pdfTail is the number of last bytes that must contain %%EOF, as in PDF readers.
const pdfTail = 1024

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

// inspectPDF is strict because a PDF is stored unchanged: it must begin at the
// first byte, have an end, and not be a ZIP archive (JAR, Office, APK …) or a page
// as well, nor carry an archive. It does not look for scripts in the PDF, whose content is usually
// compressed. The service serves a PDF as a download, and a virus scanner may check it.
func inspectPDF(r io.ReaderAt, size int64, head []byte) (Info, error) {
	if lower := bytes.ToLower(head); containsAny(lower, markup) {
		return Info{}, fileError(Ambiguous, "The file is both a PDF and a web page.")
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
		return Info{}, fileError(Truncated, "The PDF has no end. It is incomplete or damaged.")
	}
	return Info{MediaType: PDF}, nil
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
