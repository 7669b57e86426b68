package touchlinetest

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"testing"
)

// Form is the body of an upload, and its Content-Type as a header.
func Form(fields map[string]string, fileName string, file []byte) (body, header string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, text := range fields {
		_ = w.WriteField(name, text) // a buffer takes everything
	}
	if file != nil {
		part, _ := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename="%s"`, fileName)},
			"Content-Type":        {"application/octet-stream"},
		})
		_, _ = part.Write(file)
	}
	_ = w.Close()
	return b.String(), "Content-Type: " + w.FormDataContentType()
}

// Upload sends a document and returns the answer.
func (p *Person) Upload(tb testing.TB, kind, fileName string, file []byte, fields ...string) *Answer {
	tb.Helper()
	all := map[string]string{"kind": kind}
	for i := 0; i+1 < len(fields); i += 2 {
		all[fields[i]] = fields[i+1]
	}
	body, header := Form(all, fileName, file)
	return p.Call(tb, "POST", "/api/coach/documents", body, header)
}

// PDF is a document of so many bytes, at least 64, that differ from n to n.
func PDF(bytesLong, n int) []byte {
	head, tail := fmt.Sprintf("%%PDF-1.7\n%% document %d\n", n), "\n%%EOF\n"
	return []byte(head + string(bytes.Repeat([]byte{'.'}, bytesLong-len(head)-len(tail))) + tail)
}
