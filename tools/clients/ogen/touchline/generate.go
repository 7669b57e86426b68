// Package touchline is a client of the API that ogen generates from its OpenAPI document. The
// generated files are not committed: go generate makes them.
package touchline

//go:generate go tool ogen -config ../ogen.yml -target . -package touchline ../../../../internal/api/openapi.yaml
