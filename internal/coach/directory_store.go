package coach

import (
	"context"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// maxTerms is the number of terms of a search: the sport and its words.
	maxTerms = 1 + MaxWords
	// SearchWindow limits how many listings of its rarest term a search reads.
	SearchWindow = 500
)

// Listings returns up to limit listings that match all terms, newest coach first. after is
// the coach id at which the previous page ended, "" for the first page. next is the value of
// after for the next page, "" at the end.
func (db Store) Listings(ctx context.Context, terms []string, after string, limit int) (found []Listing, next string, err error) {
	from, floor := database.Before(after), ""
	var rs *database.Rows
	if len(terms) == 0 {
		rs, err = db.DB.Query(ctx, `SELECT coach_id, card FROM listings WHERE coach_id < $1 ORDER BY coach_id DESC LIMIT $2`, from, limit+1)
	} else {
		if len(terms) > 1 {
			terms, floor, err = db.rarestFirst(ctx, terms, from)
			if err != nil {
				return nil, "", err
			}
		}
		rs, err = db.search(ctx, terms, from, floor, limit+1)
	}
	found, err = database.Collect(rs, err, scanListing)
	switch {
	case err != nil:
		return nil, "", err
	case len(found) > limit:
		return found[:limit], found[limit-1].CoachID, nil
	}
	return found, floor, nil
}

// search reads the listings of the first term with floor <= coach id < from and returns those
// that match the other terms. It uses scalar subqueries: for joins, PostgreSQL may plan to
// read a whole term or the whole table.
func (db Store) search(ctx context.Context, terms []string, from, floor string, limit int) (*database.Rows, error) {
	args := append([]any{from, floor, limit}, padTerms(terms)...)
	return db.DB.Query(ctx, `
		SELECT t.coach_id, (SELECT l.card FROM listings l WHERE l.coach_id = t.coach_id)
		FROM listing_terms t
		WHERE t.term = $4 AND t.coach_id < $1 AND t.coach_id >= $2
			AND ($5 = '' OR (SELECT 1 FROM listing_terms o WHERE o.term = $5 AND o.coach_id = t.coach_id) = 1)
			AND ($6 = '' OR (SELECT 1 FROM listing_terms o WHERE o.term = $6 AND o.coach_id = t.coach_id) = 1)
			AND ($7 = '' OR (SELECT 1 FROM listing_terms o WHERE o.term = $7 AND o.coach_id = t.coach_id) = 1)
			AND ($8 = '' OR (SELECT 1 FROM listing_terms o WHERE o.term = $8 AND o.coach_id = t.coach_id) = 1)
			AND ($9 = '' OR (SELECT 1 FROM listing_terms o WHERE o.term = $9 AND o.coach_id = t.coach_id) = 1)
		ORDER BY t.coach_id DESC LIMIT $3`, args...)
}

// rarestFirst moves the rarest term to the front. For each term it reads the coach id of the
// SearchWindow-th listing from the newest: the lower this id, the rarer the term. floor is this
// id of the rarest term, "" if the term has fewer listings.
func (db Store) rarestFirst(ctx context.Context, terms []string, from string) (ordered []string, floor string, err error) {
	args := []any{from, SearchWindow - 1}
	args = append(args, padTerms(terms)...)
	var floors [maxTerms]string
	var dest []any
	for i := range floors {
		dest = append(dest, database.IntoText(&floors[i]))
	}
	err = db.DB.QueryRow(ctx, `
		SELECT
			(SELECT coach_id FROM listing_terms WHERE term = $3 AND coach_id < $1 ORDER BY coach_id DESC LIMIT 1 OFFSET $2),
			(SELECT coach_id FROM listing_terms WHERE term = $4 AND coach_id < $1 ORDER BY coach_id DESC LIMIT 1 OFFSET $2),
			(SELECT coach_id FROM listing_terms WHERE term = $5 AND coach_id < $1 ORDER BY coach_id DESC LIMIT 1 OFFSET $2),
			(SELECT coach_id FROM listing_terms WHERE term = $6 AND coach_id < $1 ORDER BY coach_id DESC LIMIT 1 OFFSET $2),
			(SELECT coach_id FROM listing_terms WHERE term = $7 AND coach_id < $1 ORDER BY coach_id DESC LIMIT 1 OFFSET $2),
			(SELECT coach_id FROM listing_terms WHERE term = $8 AND coach_id < $1 ORDER BY coach_id DESC LIMIT 1 OFFSET $2)`,
		args...).Scan(dest...)
	if err != nil {
		return nil, "", err
	}
	rarest := 0
	for i := range terms {
		if floors[i] < floors[rarest] {
			rarest = i
		}
	}
	ordered = append([]string{terms[rarest]}, terms[:rarest]...)
	return append(ordered, terms[rarest+1:]...), floors[rarest], nil
}

// padTerms appends "" up to maxTerms, so that all searches use one statement. search ignores
// a "" after the first term, and rarestFirst finds no listing for it.
func padTerms(terms []string) []any {
	args := make([]any, maxTerms)
	for i := range args {
		args[i] = ""
		if i < len(terms) {
			args[i] = terms[i]
		}
	}
	return args
}

// Listing returns the listing of a coach, or not_found.
func (db Store) Listing(ctx context.Context, coachID string) (Listing, error) {
	l, err := scanListing(db.DB.QueryRow(ctx, `SELECT coach_id, card FROM listings WHERE coach_id = $1`, coachID))
	if database.IsNoRows(err) {
		return l, fault.Missing()
	}
	return l, err
}
