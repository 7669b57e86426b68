// Package operators is a client of the operators' listener that ogen generates from its OpenAPI
// document. The generated files are not committed: go generate makes them.
package operators

//go:generate go tool ogen -config ../ogen.yml -target . -package operators ../../../../internal/admin/openapi.yaml
