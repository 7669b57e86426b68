// Package apidocs serves an OpenAPI document as JSON, its reference, and the guides beside it.
package apidocs

import "strings"

// Link identifies an operation, one method of one path.
type Link struct{ ID, Method, Path string }

// operationsByCode returns the operations that return each problem code.
func operationsByCode(root node) map[string][]Link {
	operations := map[string][]Link{}
	for path, methods := range root.at("paths").members() {
		for method, operation := range methods.members() {
			for _, response := range operation.at("responses").members() {
				for _, code := range response.at("x-problem-codes").items() {
					operations[code.Value] = append(operations[code.Value], Link{operation.at("operationId").Value, strings.ToUpper(method), path})
				}
			}
		}
	}
	return operations
}
