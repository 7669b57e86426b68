// Package auth owns sign-in: one-time passwords and their limits, sessions with access
// and refresh tokens, known devices, and the keys behind them. Other domain packages
// decide what a session may do. The worker sends the SMS.
package auth
