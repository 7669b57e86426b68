// Package config holds the settings of the service: one struct whose tags describe
// all of them, Load to read them from flags, environment and files, and Validate to
// report every error. It also owns the file of the master key.
package config
