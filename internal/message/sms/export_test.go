package sms

// NewFailover returns a failover of providers with one rate that are all named test.
func NewFailover(rate float64, providers ...Provider) Provider {
	var named []namedProvider
	for _, p := range providers {
		named = append(named, namedProvider{p, "test", rate})
	}
	return newFailover(named, nil)
}
