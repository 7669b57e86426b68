package api_test

import (
	"testing"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest/openapitest"
)

func TestQueryParameters(t *testing.T) {
	document, err := api.Document()
	if err != nil {
		t.Fatal(err)
	}
	openapitest.CheckQueries(t, document, api.New(api.Config{Features: server.APIFeatures()}).Queries())
}
