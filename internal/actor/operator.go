package actor

// Operator is whoever runs the service and acts on it: by a token, or in a shell.
// Operators are not people with numbers, and hold none of the Roles.
type Operator struct {
	// ID of the token; empty in a shell.
	ID string
	// Name of the token, or shell:<user>.
	Name string
}
