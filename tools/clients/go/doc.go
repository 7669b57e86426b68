// Package clients tests the OpenAPI documents: it runs the main flow against a server with clients
// that a generator makes of them with its default options.
package clients
