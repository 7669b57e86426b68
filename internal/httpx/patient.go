package httpx

import (
	"net/http"
	"time"
)

// AnswerWrite is how long a caller may take to take an answer, or the next piece
// of a long one.
const AnswerWrite = 30 * time.Second

// patientWriter gives each piece of a long answer its time, as the server's time
// for an answer is for short ones.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// WriteHeader writes the status.
func (p *patientWriter) WriteHeader(status int) {
	p.extend()
	p.ResponseWriter.WriteHeader(status)
}

// Write writes a piece of the body.
func (p *patientWriter) Write(b []byte) (int, error) {
	p.extend()
	return p.ResponseWriter.Write(b)
}

func (p *patientWriter) extend() { _ = p.control.SetWriteDeadline(time.Now().Add(AnswerWrite)) }
