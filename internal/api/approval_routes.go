package api

// approvalRoutes are players, approvals and availability.
func (s *Server) approvalRoutes() []route { return nil }
