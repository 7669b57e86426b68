package openapitest_test

import (
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest/openapitest"
)

func TestStrict(t *testing.T) {
	for published, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string"}}}`:                                     `{"additionalProperties":false,"properties":{"a":{"type":"string"}},"type":"object"}`,
		`{"type":["object","null"],"properties":{}}`:                                                 `{"additionalProperties":false,"properties":{},"type":["object","null"]}`,
		`{"type":"object","additionalProperties":{"type":"integer"},"properties":{}}`:                `{"additionalProperties":{"type":"integer"},"properties":{},"type":"object"}`,
		`{"properties":{"type":{"type":"string"},"properties":{"type":"integer"}}}`:                  `{"properties":{"properties":{"type":"integer"},"type":{"type":"string"}}}`,
		`[{"type":"string","x-extensible-enum":["a"]}]`:                                              `[{"enum":["a"],"type":"string","x-extensible-enum":["a"]}]`,
		`{"requestBody":{"type":"object","properties":{}},"requestBodies":{"x-extensible-enum":[]}}`: `{"requestBodies":{"x-extensible-enum":[]},"requestBody":{"properties":{},"type":"object"}}`,
	} {
		got, err := openapitest.Strict([]byte(published))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", published, got, err, want)
		}
	}
}
