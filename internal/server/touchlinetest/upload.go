package touchlinetest

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"testing"
)

// Form returns a multipart body and its Content-Type header for Call.
func Form(fields map[string]string, fileName string, file []byte) (body, header string) {
	var b bytes.Buffer // writing to it cannot fail
	w := multipart.NewWriter(&b)
	for name, text := range fields {
		_ = w.WriteField(name, text)
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

// Upload uploads a document and returns the response. fields are names and values
// in turn.
func (u *User) Upload(tb testing.TB, kind, fileName string, file []byte, fields ...string) *Response {
	tb.Helper()
	all := map[string]string{"kind": kind}
	for i := 0; i+1 < len(fields); i += 2 {
		all[fields[i]] = fields[i+1]
	}
	body, header := Form(all, fileName, file)
	return u.Call(tb, "POST", "/api/coach/documents", body, header)
}

// PDF returns a document of size bytes, at least 64, with contents that depend on n.
func PDF(size, n int) []byte {
	head, tail := fmt.Sprintf("%%PDF-1.7\n%% document %d\n", n), "\n%%EOF\n"
	return []byte(head + string(bytes.Repeat([]byte{'.'}, size-len(head)-len(tail))) + tail)
}
