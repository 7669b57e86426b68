package api_test

import (
	"testing"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest/openapitest"
)

// TestBodies: a field of a request has the same bounds in its tag and in the document.
func TestBodies(t *testing.T) {
	document, err := api.Document()
	if err != nil {
		t.Fatal(err)
	}
	openapitest.CheckBodies(t, document, api.New(api.Config{Features: server.APIFeatures()}).Bodies())
}
