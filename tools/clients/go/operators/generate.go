// Package operators is a client of the operators' listener, generated from its OpenAPI document.
// The generated file is not committed: go generate makes it.
package operators

//go:generate go tool oapi-codegen -generate types,client -package operators -o operators.gen.go ../../../../internal/admin/openapi.yaml
