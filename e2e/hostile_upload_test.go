package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/platform/blob/blobtest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/picture/picturetest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// eachStorage runs test on both databases with both file stores.
func eachStorage(t *testing.T, test func(t *testing.T, s *touchlinetest.Service), options ...touchlinetest.Option) {
	blobtest.Each(t, func(t *testing.T, address string) {
		storetest.Each(t, func(t *testing.T, url string) {
			files := "file:" + t.TempDir()
			if !strings.HasPrefix(address, "file:") {
				files = blobtest.S3(t)
			}
			test(t, touchlinetest.New(t, url, append(slices.Clone(options), func(c *config.Config) { c.Files = config.SecretURL(files) })...))
		})
	})
}

// part returns one part of a hand-written multipart body.
func part(header, content string) string { return "--XX\r\n" + header + "\r\n\r\n" + content + "\r\n" }

func textPart(name, content string) string {
	return part(`Content-Disposition: form-data; name="`+name+`"`, content)
}

func filePart(name string, content []byte) string {
	return part(`Content-Disposition: form-data; name="file"; filename="`+name+`"`+"\r\nContent-Type: application/pdf", string(content))
}

const (
	kindPart  = "--XX\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\ncertification\r\n"
	lastPart  = "--XX--\r\n"
	multiPart = "multipart/form-data; boundary=XX"
)

// hostileUpload is an upload that a malicious client may send.
type hostileUpload struct {
	name string
	body string
	// mediaType is multiPart if empty.
	mediaType string
	headers   []string
	status    int
	code      string
	// faults are the sorted "pointer code" pairs of a 422.
	faults []string
	// fileName is the stored name, checked if not empty.
	fileName string
}

// certificateForm returns a form that uploads this file as a certificate.
func certificateForm(name string, content []byte) string {
	return kindPart + filePart(name, content) + lastPart
}

func refusedFile(name string, content []byte, code string) hostileUpload {
	return hostileUpload{name: name, body: certificateForm(name, content), status: 422, code: "validation_failed", faults: []string{"/file " + code}}
}

// hostileUploads returns all hostile uploads. It makes the large ones once for all services.
var hostileUploads = sync.OnceValue(func() []hostileUpload {
	pdf, photo, drawing := touchlinetest.PDF(400, 1), picturetest.JPEG(picturetest.FourCorners(40, 30)), picturetest.PNG(picturetest.FourCorners(40, 30))
	zip := "PK\x05\x06" + strings.Repeat("\x00", 18)
	webpAnimated := "RIFF\x2a\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x0f\x00\x00\x0f\x00\x00ANIM\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00VP8 \x00\x00\x00\x00"
	named := func(name, want string) hostileUpload {
		return hostileUpload{name: "named " + name, body: certificateForm(name, pdf), status: 201, fileName: want}
	}
	text := func(field, content string, faults ...string) hostileUpload {
		return hostileUpload{
			name: field + " " + shorten(content), body: kindPart + textPart(field, content) + filePart("a.pdf", pdf) + lastPart,
			status: 422, code: "validation_failed", faults: faults,
		}
	}
	return []hostileUpload{
		// Files of another type than their name says.
		refusedFile("picture.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), "unsupported_type"),
		refusedFile("page.png", []byte("<!DOCTYPE html><script>alert(1)</script>"), "unsupported_type"),
		refusedFile("script.png", []byte("#!/bin/sh\nrm -rf /\n"), "unsupported_type"),
		refusedFile("shell.php.jpg", []byte("<?php system($_GET['c']); ?>"), "unsupported_type"),
		refusedFile("setup.pdf", []byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00"), "unsupported_type"),
		refusedFile("archive.pdf", []byte("PK\x03\x04\x14\x00\x00\x00\x08\x00"+zip), "unsupported_type"),
		refusedFile("animated.gif", []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00;"), "unsupported_type"),
		refusedFile("old.bmp", []byte("BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00"), "unsupported_type"),
		refusedFile("scan.tif", []byte("II*\x00\x08\x00\x00\x00\x00\x00"), "unsupported_type"),
		refusedFile("phone.heic", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), "unsupported_type"),
		refusedFile("words.txt", []byte("just words"), "unsupported_type"),
		refusedFile("leading-space.pdf", append(bytes.Repeat([]byte(" "), 1025), pdf...), "unsupported_type"),
		refusedFile("gif.jpg", append([]byte("GIF89a"), photo...), "unsupported_type"),
		refusedFile("base64.pdf", []byte("JVBERi0xLjcKJSVFT0YK"), "unsupported_type"),
		refusedFile("empty.pdf", []byte{}, "empty"),
		// Files that are valid as two types.
		refusedFile("both.pdf", []byte(string(pdf)+zip), "ambiguous_type"),
		refusedFile("page.pdf", []byte("%PDF-1.4\n<html><script>alert(1)</script></html>\n%%EOF\n"), "ambiguous_type"),
		{name: "JPEG and ZIP", body: certificateForm("both.jpg", []byte(string(photo)+zip)), status: 201, fileName: "both.jpg"},
		{name: "PNG and script", body: certificateForm("both.png", picturetest.AfterHeader(drawing, picturetest.Chunk("tEXt", []byte("Comment\x00<script>alert(1)</script>")))), status: 201, fileName: "both.jpg"},
		// Damaged or too large files.
		refusedFile("cut.pdf", pdf[:200], "truncated"),
		refusedFile("cut.jpg", photo[:len(photo)/2], "truncated"),
		refusedFile("cut.png", drawing[:len(drawing)-30], "truncated"),
		refusedFile("start-only.jpg", photo[:3], "truncated"),
		refusedFile("bomb.png", pngHeader(50_000, 50_000), "too_many_pixels"),
		refusedFile("wide.png", pngHeader(19_999, 4_000), "too_many_pixels"),
		refusedFile("huge.png", pngHeader(0x7fffffff, 0x7fffffff), "too_many_pixels"),
		refusedFile("zerowidth.png", pngHeader(0, 10), "unreadable_picture"),
		refusedFile("nopixels.png", pngHeader(1000, 1000), "unreadable_picture"),
		{name: "animated PNG", body: certificateForm("animated.png", picturetest.AfterHeader(drawing, picturetest.Chunk("acTL", []byte("\x00\x00\x00\x02\x00\x00\x00\x00")))), status: 201, fileName: "animated.jpg"},
		refusedFile("animated.webp", []byte(webpAnimated), "animated_picture"),
		{name: "one byte over", body: certificateForm("large.pdf", touchlinetest.PDF(10<<20+1, 1)), status: 413, code: "payload_too_large"},
		{name: "not one byte over", body: certificateForm("large.pdf", touchlinetest.PDF(10<<20, 1)), status: 201, fileName: "large.pdf"},
		{name: "much over", body: certificateForm("large.pdf", touchlinetest.PDF(12<<20, 1)), status: 413, code: "payload_too_large"},
		{
			name: "a text of 10 MiB", body: textPart("title", strings.Repeat("x", 10<<20)) + lastPart, status: 422, code: "validation_failed",
			faults: []string{"/title too_long", "/kind required", "/file required"},
		},
		{name: "a text of 11 MiB", body: textPart("title", strings.Repeat("x", 11<<20)) + lastPart, status: 413, code: "payload_too_large"},
		// Invalid parts.
		{name: "no file", body: kindPart + lastPart, status: 422, code: "validation_failed", faults: []string{"/file required"}},
		{name: "no kind", body: filePart("a.pdf", pdf) + lastPart, status: 422, code: "validation_failed", faults: []string{"/kind required"}},
		{name: "two files", body: kindPart + filePart("a.pdf", pdf) + filePart("b.pdf", pdf) + lastPart, status: 422, code: "validation_failed", faults: []string{"/file duplicate_field"}},
		{name: "two kinds", body: kindPart + kindPart + filePart("a.pdf", pdf) + lastPart, status: 422, code: "validation_failed", faults: []string{"/kind duplicate_field"}},
		{name: "a PDF as picture", body: textPart("kind", "profile_picture") + filePart("a.pdf", pdf) + lastPart, status: 422, code: "validation_failed", faults: []string{"/file not_a_picture"}},
		{name: "a GIF as picture", body: textPart("kind", "profile_picture") + filePart("a.gif", []byte("GIF89a\x01\x00\x01\x00;")) + lastPart, status: 422, code: "validation_failed", faults: []string{"/file not_a_picture"}},
		{name: "texts after the file", body: filePart("a.pdf", pdf) + kindPart + textPart("title", "Last") + lastPart, status: 201, fileName: "a.pdf"},
		{name: "text before and after the parts", body: "to whom it may concern\r\n" + certificateForm("a.pdf", pdf) + "yours", status: 201, fileName: "a.pdf"},
		{
			name: "every field invalid", body: textPart("kind", "secret") + textPart("title", strings.Repeat("x", 101)) + textPart("issued_on", "2025-02-30") +
				textPart("admin", "true") + filePart("a.txt", []byte("no")) + lastPart, status: 422, code: "validation_failed",
			faults: []string{"/admin unknown_field", "/kind invalid_value", "/title too_long", "/issued_on invalid_date", "/file unsupported_type"},
		},
		text("title", strings.Repeat("x", 8<<10+1), "/title too_long"),
		text("title", strings.Repeat("é", 101), "/title too_long"),
		text("title", "a\x00b", "/title invalid_characters"),
		text("title", "a\xff\xfeb", "/title invalid_characters"),
		text("title", "a\u202egpj.exe", "/title invalid_characters"),
		text("issuer", "a\nb", "/issuer invalid_characters"),
		text("expires_on", "31.12.2030", "/expires_on invalid_date"),
		text("expires_on", "2030-1-1", "/expires_on invalid_date"),
		text("a\xffb", "x", "/? unknown_field"),
		text(strings.Repeat("n", 300), "x", "/? unknown_field"),
		text("__proto__", "x", "/__proto__ unknown_field"),
		text("in_profile", "true", "/in_profile unknown_field"),
		{
			name: "ends before it begins", body: textPart("issued_on", "2025-05-02") + textPart("expires_on", "2025-05-01") + certificateForm("a.pdf", pdf),
			status: 422, code: "validation_failed", faults: []string{"/expires_on before_issued_on"},
		},
		// Invalid bodies.
		{name: "nameless part", body: part("Content-Disposition: form-data", "x") + certificateForm("a.pdf", pdf), status: 400, code: "malformed_request"},
		{name: "no disposition", body: part("Content-Type: text/plain", "x") + certificateForm("a.pdf", pdf), status: 400, code: "malformed_request"},
		{name: "no header", body: "--XX\r\n\r\nx\r\n" + lastPart, status: 400, code: "malformed_request"},
		{name: "a broken header", body: part("no colon", "x") + lastPart, status: 400, code: "malformed_request"},
		{name: "a header of 40 KiB", body: part("X: "+strings.Repeat("y", 40<<10), "x") + lastPart, status: 400, code: "malformed_request"},
		{name: "9,000 headers", body: part(strings.Repeat("X: y\r\n", 9000)+"Z: z", "x") + lastPart, status: 400, code: "malformed_request"},
		{name: "51 parts", body: strings.Repeat(textPart("title", "x"), 51) + lastPart, status: 400, code: "malformed_request"},
		{name: "nothing", body: "", status: 400, code: "malformed_request"},
		{name: "only the end", body: lastPart, status: 400, code: "malformed_request"},
		{name: "not multipart at all", body: "hello", status: 400, code: "malformed_request"},
		{name: "no final boundary", body: kindPart + filePart("a.pdf", pdf), status: 400, code: "malformed_request"},
		{name: "cut inside the file", body: certificateForm("a.pdf", pdf)[:300], status: 400, code: "malformed_request"},
		{name: "another boundary", body: certificateForm("a.pdf", pdf), mediaType: "multipart/form-data; boundary=YY", status: 400, code: "malformed_request"},
		{name: "no boundary", body: certificateForm("a.pdf", pdf), mediaType: "multipart/form-data", status: 400, code: "malformed_request"},
		{name: "a boundary of 80", body: certificateForm("a.pdf", pdf), mediaType: "multipart/form-data; boundary=" + strings.Repeat("X", 80), status: 400, code: "malformed_request"},
		{name: "multipart/mixed", body: certificateForm("a.pdf", pdf), mediaType: "multipart/mixed; boundary=XX", status: 415, code: "unsupported_media_type"},
		{name: "JSON", body: `{"kind":"certification"}`, mediaType: "application/json", status: 415, code: "unsupported_media_type"},
		{name: "the file alone", body: string(pdf), mediaType: "application/pdf", status: 415, code: "unsupported_media_type"},
		{name: "compressed", body: certificateForm("a.pdf", pdf), headers: []string{"Content-Encoding: gzip"}, status: 415, code: "unsupported_media_type"},
		{name: "wants HTML", body: certificateForm("a.pdf", pdf), headers: []string{"Accept: text/html"}, status: 406, code: "not_acceptable"},
		// Hostile file names.
		named("../../../etc/passwd", "passwd.pdf"),
		named(`..\\..\\windows\\system32\\evil.exe`, "evil.pdf"),
		named("/etc/cron.d/x", "x.pdf"),
		named("..", "document.pdf"),
		named("", "document.pdf"),
		named(".htaccess", "htaccess.pdf"),
		{name: "a NUL in the name", body: certificateForm("a.pdf\x00.exe", pdf), status: 400, code: "malformed_request"},
		named("invoice\u202efdp.exe", "invoicefdp.pdf"),
		named("C:evil|<b>?.pdf", "C_evil__b__.pdf"),
		named("Meera.Nair.pdf", "Meera.Nair.pdf"),
		named("प्रमाणपत्र.pdf", "प्रमाणपत्र.pdf"),
		named(strings.Repeat("n", 1000)+".pdf", strings.Repeat("n", 251)+".pdf"),
		named("not\xff\xfeUTF-8.pdf", "notUTF-8.pdf"),
		named("report.JPG", "report.pdf"),
	}
})

func shorten(s string) string {
	if len(s) > 20 {
		s = s[:20]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "0"), "?")
}

// TestHostileUploads: each upload is refused with its reason or made harmless,
// and leaves no file without a document.
func TestHostileUploads(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		stored := 0
		for _, h := range hostileUploads() {
			t.Run(h.name, func(t *testing.T) {
				mediaType := h.mediaType
				if mediaType == "" {
					mediaType = multiPart
				}
				a := c.Call(t, "POST", "/api/coach/documents", h.body, append(h.headers, "Content-Type: "+mediaType)...).Want(t, h.status, h.code)
				if got := validationFaults(a); !slices.Equal(got, h.faults) {
					t.Errorf("got faults %q, want %q: %s", got, h.faults, a.Body)
				}
				if a.Status != 201 {
					return
				}
				stored++
				if a.String("file_name") != h.fileName {
					t.Errorf("got file name %q, want %q", a.String("file_name"), h.fileName)
				}
				content := c.Call(t, "GET", a.String("content_url"), nil).Want(t, 200)
				if bytes.Contains(content.Body, []byte("PK\x05\x06")) || bytes.Contains(content.Body, []byte("<script")) {
					t.Error("the hidden content is still in the file")
				}
				if got := content.Header.Get("X-Content-Type-Options"); got != "nosniff" {
					t.Errorf("got X-Content-Type-Options %q", got)
				}
			})
		}
		db := openTables(t, s)
		if n := queryOne[int64](t, db, `SELECT count(*) FROM blobs WHERE ends_at IS NULL`); n != int64(stored) {
			t.Errorf("got %d blobs for %d documents", n, stored)
		}
		if n := queryOne[int64](t, db, `SELECT count(*) FROM documents`); n != int64(stored) {
			t.Errorf("got %d documents, want %d", n, stored)
		}
		if left := spoolFiles(t, s); len(left) > 0 {
			t.Errorf("temporary files left: %v", left)
		}
	})
}

// TestHostileReplacements: replacements are validated like uploads.
func TestHostileReplacements(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		d := c.Upload(t, "profile_picture", "me.jpg", picturetest.JPEG(picturetest.FourCorners(40, 30))).Want(t, 201)
		put := func(body string, headers ...string) *touchlinetest.Response {
			return c.Call(t, "PUT", d.String("content_url"), body, append(headers, "Content-Type: "+multiPart)...)
		}
		pdf := touchlinetest.PDF(100, 1)
		for body, fault := range map[string]string{
			filePart("a.pdf", pdf) + lastPart:              "/file not_a_picture",
			filePart("a.svg", []byte("<svg/>")) + lastPart: "/file not_a_picture",
			lastPart[:4] + "\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nx\r\n" + filePart("a.jpg", picturetest.JPEG(picturetest.FourCorners(4, 3))) + lastPart: "/title unknown_field",
			textPart("file", "") + lastPart: "/file required", // browsers send this if no file was chosen
		} {
			if got := validationFaults(put(body).Want(t, 422)); len(got) != 1 || got[0] != fault {
				t.Errorf("got faults %q, want %q", got, fault)
			}
		}
		put("x").Want(t, 400)
		put(filePart("a.jpg", make([]byte, 10<<20+1))+lastPart).Want(t, 413)
		c.Call(t, "PUT", d.String("content_url"), "{}").Want(t, 415)
		c.Call(t, "PUT", "/api/coach/documents/"+c.ID+"/content", filePart("a.pdf", pdf)+lastPart, "Content-Type: "+multiPart).Want(t, 404)
		c.Call(t, "PUT", "/api/coach/documents/nonsense/content", filePart("a.pdf", pdf)+lastPart, "Content-Type: "+multiPart).Want(t, 404)
		c.Call(t, "PUT", "/api/coach/documents", "{}").Want(t, http.StatusMethodNotAllowed)
	})
}

// validationFaults returns the "pointer code" pairs of a problem.
func validationFaults(a *touchlinetest.Response) []string {
	var all []string
	list, _ := a.JSON["errors"].([]any)
	for _, f := range list {
		m, _ := f.(map[string]any)
		all = append(all, fmt.Sprint(m["pointer"], " ", m["code"]))
	}
	return all
}
