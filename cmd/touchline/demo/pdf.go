package demo

import (
	"bytes"
	"fmt"
)

// pdf returns a document of one page with a title. The title has no brackets.
func pdf(title string) []byte {
	text := fmt.Sprintf("BT /F1 28 Tf 72 640 Td (%s) Tj 0 -48 Td /F1 12 Tf (A sample of the demo. It certifies nothing.) Tj ET", title)
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	for n, object := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(text), text),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	} {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n+1, object)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return b.Bytes()
}
