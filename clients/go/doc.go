// Package touchline is the client of Touchline for apps and services in Go. It needs the standard library only.
//
// A Client keeps one session: it refreshes in one place, stores a new refresh token before the new access token is used,
// repeats calls that can be repeated, reads lists page after page, follows notifications and uploads files. Client.HTTP gives the
// same to a client that a generator makes of the OpenAPI document. A Service follows the feed of changes and verifies webhooks.
package touchline
