// Package web serves the HTML pages of families, coaches, visitors and operators.
//
// Pages are rendered on the server, and every form works without JavaScript. A handler is
// a function of values, func(ctx, *Request) (Response, error), and calls the same domain
// services as the API. If a handler returns an error, the response is a page that says what
// to do.
//
// Each page or flow has one file; the other files are shared. Templates are in templates/, texts in locales/ (one
// JSON file for each area and language), and everything that browsers load in static/.
package web
