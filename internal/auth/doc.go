// Package auth owns signing in: one-time passwords, their limits, sessions with
// access and refresh tokens, devices, and the keys behind them all. What a
// session may then do is for the other features to say; how an SMS leaves is
// the worker's.
package auth
