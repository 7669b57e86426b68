package picture

import (
	"bytes"
	"io"
)

// tail is where the end of a PDF is looked for, as PDF readers do.
const pdfTail = 1024

// zipTail is where a ZIP archive's directory may end: a record of 22 bytes and a
// comment of up to 64 KiB.
const zipTail = 22 + 0xffff

// markup is what no PDF's first kilobytes hold, but a page for a browser would.
var markup = []string{"<!doctype", "<html", "<head", "<body", "<script", "<svg", "<iframe", "<?php", "<?xml-stylesheet"}

// inspectPDF takes a PDF as it is, since nothing here could make it anew, and is
// therefore strict: it begins at the first byte, ends as one, and is not at the
// same time an archive (JAR, Office, APK …) or a page. What the PDF itself holds,
// scripts among it, is not judged: it is compressed more often than not. Those who
// serve it say that it is no page, and a virus scanner may look at it.
func inspectPDF(r io.ReaderAt, size int64, head []byte) (Info, error) {
	if lower := bytes.ToLower(head); containsAny(lower, markup) {
		return Info{}, fileError(Ambiguous, "The file is a PDF and a web page at the same time.")
	}
	end := make([]byte, min(size, zipTail))
	if err := readAt(r, end, size-int64(len(end))); err != nil {
		return Info{}, err
	}
	if isZIP(end) {
		return Info{}, fileError(Ambiguous, "The file is a PDF and a ZIP archive at the same time.")
	}
	if !bytes.Contains(end[max(0, len(end)-pdfTail):], []byte("%%EOF")) {
		return Info{}, fileError(Truncated, "The PDF has no end: it was cut off, or is damaged.")
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

// isZIP looks for the record that ends an archive, and that its comment's length
// leads close to the end: the four bytes alone may be chance.
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
