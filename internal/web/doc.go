// Package web serves the pages for browsers, rendered on the server without scripts and
// without external resources. At present it has one page: that of the link in a message.
// Pages only read; no decision is made on them.
package web
