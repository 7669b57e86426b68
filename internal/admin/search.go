package admin

import (
	"context"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

// searchRequest has at most one of Number, Q and CoachID. It is a body and not a query,
// because proxies log the numbers in URLs.
type searchRequest struct {
	Number  *string `json:"number" rule:"min=1,max=64"`
	Q       *string `json:"q" rule:"min=1,max=100"`
	CoachID *string `json:"coach_id" rule:"id"`
	Limit   *int    `json:"limit" rule:"min=1"`
	Cursor  *string `json:"cursor" rule:"secret,min=1,max=512"`
}

// searchCoaches serves POST /api/admin/coaches/search: one coach by number or id, the
// coaches whose name begins with q, in the order of names, or all coaches, the newest first.
func (s *Server) searchCoaches(ctx context.Context, r Request[searchRequest]) (Response, error) {
	in, f := r.Body, r.Faults
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	search := s.search(in, &f)
	page := s.BodyPage(r.Meta, in.Limit, in.Cursor, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	search.After = coach.AccountCursor{Name: []byte(page.After.Name), ID: page.After.ID}
	found, err := s.Accounts.Find(ctx, r.Caller.Operator(), search, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, found, func(m coach.AccountMatch) accountResponse { return s.newAccountResponse(m.Account) },
		func(m coach.AccountMatch) Keyset { return Keyset{Name: string(m.Cursor.Name), ID: m.Cursor.ID} }), nil
}

// search returns the search for at most one of number, q and coach_id.
func (s *Server) search(in searchRequest, f *wire.Faults) (out coach.AccountSearch) {
	given := 0
	for _, value := range []*string{in.Number, in.Q, in.CoachID} {
		if value != nil {
			given++
		}
	}
	switch {
	case given > 1:
		f.Add("", "invalid_value", "Send at most one of number, q and coach_id.")
	case in.Number != nil:
		n, err := s.Phones.Parse(*in.Number)
		if err != nil {
			f.Add("/number", "invalid_number", "This is not a complete mobile number.")
		}
		out.Number = n
	case in.CoachID != nil:
		out.ID = *in.CoachID
	case in.Q != nil:
		out.Name = *in.Q
	}
	return out
}
