package admin

import (
	"net/http"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/wire"
)

// searchRequest asks for coaches by exactly one of its first three. It is a body
// and no query, because a number in an address ends up in the logs of proxies.
type searchRequest struct {
	Number  *string `json:"number" rule:"min=1,max=64"`
	Q       *string `json:"q" rule:"min=1,max=100"`
	CoachID *string `json:"coach_id" rule:"id"`
	Limit   *int    `json:"limit" rule:"min=1"`
	Cursor  *string `json:"cursor" rule:"secret,min=1,max=512"`
}

// findCoaches serves POST /api/admin/coaches/search: one by number or id, or by the
// beginning of the name, in the order of names.
func (s *Server) findCoaches(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	in, err := decode[searchRequest](r)
	if err != nil {
		return err
	}
	search := s.search(in, &c.faults)
	p := s.pageOf(c, wire.PageSize(in.Limit), in.Cursor)
	if err := c.faults.Err(); err != nil {
		return err
	}
	search.After = coach.AccountCursor{Name: p.after.Name, ID: p.after.ID}
	found, err := s.Oversight.Find(r.Context(), c.operator(), search, p.limit+1)
	if err != nil {
		return err
	}
	return answerPage(w, p, found, func(f coach.AccountMatch) foundResponse { return s.found(f.Account) },
		func(f coach.AccountMatch) keyset { return keyset{Name: f.Cursor.Name, ID: f.Cursor.ID} })
}

// search is what is looked for: exactly one of number, q and coach_id.
func (s *Server) search(in searchRequest, f *wire.Faults) (out coach.AccountSearch) {
	given := 0
	for _, value := range []*string{in.Number, in.Q, in.CoachID} {
		if value != nil {
			given++
		}
	}
	switch {
	case given != 1:
		f.Add("", "invalid_value", "Look for one thing: number, q or coach_id.")
	case in.Number != nil:
		n, err := s.Phones.Parse(*in.Number)
		if err != nil {
			f.Add("/number", "invalid_number", "This is no whole mobile number.")
		}
		out.Number = n
	case in.CoachID != nil:
		out.ID = *in.CoachID
	default:
		out.Name = *in.Q
	}
	return out
}
