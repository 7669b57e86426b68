package picture

import (
	"bytes"
	"io"
)

// pdfTail is the number of last bytes that must contain %%EOF, as in PDF readers.
const pdfTail = 1024

// zipTail is the number of last bytes that may contain a ZIP end record: 22 bytes
// and a comment of up to 64 KiB.
const zipTail = 22 + 0xffff

// markup lists strings that a browser would take for a page, and that no PDF has in
// its first kilobytes.
var markup = []string{"<!doctype", "<html", "<head", "<body", "<script", "<svg", "<iframe", "<?php", "<?xml-stylesheet"}

// inspectPDF is strict because a PDF is stored unchanged: it must begin at the
// first byte, have an end, and not be a ZIP archive (JAR, Office, APK …) or a page
// as well. It does not look for scripts in the PDF, whose content is usually
// compressed. The service serves a PDF as a download, and a virus scanner may check it.
func inspectPDF(r io.ReaderAt, size int64, head []byte) (Info, error) {
	if lower := bytes.ToLower(head); containsAny(lower, markup) {
		return Info{}, fileError(Ambiguous, "The file is both a PDF and a web page.")
	}
	end := make([]byte, min(size, zipTail))
	if err := readAt(r, end, size-int64(len(end))); err != nil {
		return Info{}, err
	}
	if isZIP(end) {
		return Info{}, fileError(Ambiguous, "The file is both a PDF and a ZIP archive.")
	}
	if !bytes.Contains(end[max(0, len(end)-pdfTail):], []byte("%%EOF")) {
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

// isZIP looks for a ZIP end record whose comment fits into the file: the signature
// alone may be chance.
func isZIP(end []byte) bool {
	for at := len(end) - 22; at >= 0; at-- {
		if end[at] != 'P' || string(end[at:at+4]) != "PK\x05\x06" {
			continue
		}
		comment := int(end[at+20]) | int(end[at+21])<<8
		if at+22+comment <= len(end) {
			return true
		}
	}
	return false
}
