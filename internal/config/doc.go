// Package config is the service's settings: one struct whose tags are the table
// of all of them, one Load from flags, environment and files, and one Validate
// that reports every fault. It owns the master key's file too.
//
// What each setting does is the business of the package it is for.
package config
