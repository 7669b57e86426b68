package admin

// Queries returns the query parameters of each route, by its method and pattern.
func (s *Server) Queries() map[string][]string {
	queries := map[string][]string{}
	for _, rt := range s.routes() {
		queries[rt.Method+" "+rt.Pattern] = rt.Query
	}
	return queries
}
