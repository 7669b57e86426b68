// Package web serves the pages for people: families, coaches and visitors.
//
// Pages are rendered on the server, and every form works without JavaScript. A handler is
// a function of values, func(ctx, *Request) (Response, error), and calls the same domain
// services as the API. A handler that returns an error gets a page that says what to do.
//
// One file is one page or one flow. Templates are in templates/, texts in locales/ (one
// JSON file for each area and language), and everything that browsers load in static/.
package web
