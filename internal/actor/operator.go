package actor

// Operator is a person or program that runs the service, identified by a token or a
// shell user. Operators have no phone-number account and none of the Roles.
type Operator struct {
	// ID of the token; empty in a shell.
	ID string
	// Name of the token, or shell:<user>.
	Name string
}
