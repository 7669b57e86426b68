// Package demo fills a new service with a believable club: a coach with players in every
// state, failed and held messages, and notifications.
//
// It is a client of the running service: each thing happens through the API, at its own
// time in the past, so the data is as consistent as that of a real club.
package demo
