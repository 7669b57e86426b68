// Package demo fills a new service with a club: a coach with players in every state, failed
// and held messages, and notifications.
//
// It is a client of the running service. It makes each change through the API, with the clock
// at a time in the past, so the data is as consistent as in a real club.
package demo
