package admin_test

import (
	"testing"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/server/touchlinetest/openapitest"
)

func TestQueryParameters(t *testing.T) {
	document, err := admin.Document()
	if err != nil {
		t.Fatal(err)
	}
	openapitest.CheckQueries(t, document, new(admin.Server).Queries())
}
