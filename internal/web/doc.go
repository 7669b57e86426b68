// Package web serves the pages that people open in a browser, rendered on the
// server: no script, nothing from elsewhere. At present that is the page behind
// the link in a message. Pages read; nothing is decided on one.
package web
