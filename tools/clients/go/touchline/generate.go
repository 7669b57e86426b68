// Package touchline is a client of the API, generated from its OpenAPI document. The generated file
// is not committed: go generate makes it.
package touchline

//go:generate go tool oapi-codegen -generate types,client -package touchline -o touchline.gen.go ../../../../internal/api/openapi.yaml
