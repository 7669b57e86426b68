package mailtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
)

// Mail is a mail that a server has taken.
type Mail struct {
	// From and To are of the envelope.
	From, To string
	// EnvelopeID is the id that notifications return (RFC 3461).
	EnvelopeID string
	// TLS is true if the connection was encrypted.
	TLS    bool
	Header mail.Header
	// Subject is decoded. Text and HTML are the parts.
	Subject, Text, HTML string
	Raw                 []byte
}

// parse reads a mail with a text part and an HTML part in UTF-8.
func parse(m Mail, raw []byte) (Mail, error) {
	m.Raw = raw
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return m, err
	}
	m.Header = message.Header
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		return m, err
	}
	mediaType, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || mediaType != "multipart/alternative" {
		return m, fmt.Errorf("content type %q, %w", mediaType, err)
	}
	parts := multipart.NewReader(message.Body, parameters["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return m, err
		}
		if encoding := part.Header.Get("Content-Transfer-Encoding"); encoding != "quoted-printable" {
			return m, fmt.Errorf("encoding %q", encoding)
		}
		content, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			return m, err
		}
		body := strings.ReplaceAll(string(content), "\r\n", "\n")
		switch contentType := part.Header.Get("Content-Type"); contentType {
		case "text/plain; charset=UTF-8":
			m.Text = body
		case "text/html; charset=UTF-8":
			m.HTML = body
		default:
			return m, fmt.Errorf("part of type %q", contentType)
		}
	}
}
