package sms

// NewFailover returns a failover of providers that are all named test.
func NewFailover(c Config, providers ...Provider) Provider {
	var named []namedProvider
	for _, p := range providers {
		named = append(named, namedProvider{p, "test"})
	}
	return newFailover(named, c)
}
