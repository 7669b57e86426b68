package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// storedListing reads the stored listing of a coach.
func (p *fixture) storedListing(coachID string) (card string, terms []string) {
	p.Helper()
	card = "none"
	_ = p.db.QueryRow(bg, `SELECT card FROM listings WHERE coach_id = $1`, coachID).Scan(&card)
	rows, err := p.db.Query(bg, `SELECT term FROM listing_terms WHERE coach_id = $1`, coachID)
	ok(p, err)
	defer rows.Close()
	for rows.Next() {
		var term string
		ok(p, rows.Scan(&term))
		terms = append(terms, term)
	}
	ok(p, rows.Err())
	slices.Sort(terms)
	return card, terms
}

// reindexedListing is storedListing after a reindex.
func (p *fixture) reindexedListing(coachID string) (card string, terms []string) {
	p.Helper()
	ok(p, p.db.Write(bg, func(tx *store.Tx) error { return coach.ReindexListing(bg, tx, coachID) }))
	return p.storedListing(coachID)
}

// addDocument inserts a document and reindexes the listing, as an upload does.
func addDocument(tx *store.Tx, coachID, id, kind, title string) error {
	_, err := tx.Exec(bg, `
		INSERT INTO documents (id, coach_id, kind, title, file_name, media_type, size, sha256, width, height, variants, blob, in_profile, version, created_at, updated_at)
		VALUES ($1, $2, $3, $4, 'f', 'image/png', 1, 's', 300, 200, '[{"name":"small","width":128,"height":85}]', 'b', TRUE, 1, 1, 1)`,
		id, coachID, kind, title)
	if err != nil {
		return err
	}
	if kind == "profile_picture" {
		if _, err := tx.Exec(bg, `UPDATE coaches SET picture_id = $2 WHERE id = $1`, coachID, id); err != nil {
			return err
		}
	}
	return coach.ReindexListing(bg, tx, coachID)
}

// show makes a coach visible with all fields, or hides them.
func (p *fixture) show(coachID string, visible bool) error {
	return p.coaches().SetVisibility(bg, coachID, func(coach.ListingSource) (coach.VisibilityRequest, error) {
		return coach.VisibilityRequest{Visible: visible, Show: coach.Showable}, nil
	})
}

// profile changes the name, bio and sports of a coach.
func (p *fixture) profile(coachID, name, bio string, sports ...string) error {
	return p.coaches().UpdateProfile(bg, coachID, func(v coach.Profile) (coach.Profile, error) {
		v.Name, v.Bio, v.Sports, v.UpdatedAt = name, bio, sports, p.clock.Now()
		return v, nil
	})
}

// TestConcurrentListingChanges changes different parts of one coach concurrently.
// The listing must equal what a reindex makes.
func TestConcurrentListingChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		random := newRand(newSeed(t), 0)
		for round := range 25 {
			id := p.coach(100 + round).AccountID
			ok(t, p.show(id, true))
			changes := []func(i int) error{
				func(i int) error { return p.profile(id, fmt.Sprint("Name ", i), "Bio", "hockey") },
				func(i int) error { return p.show(id, i%4 != 0) },
				func(i int) error {
					return p.db.Write(bg, func(tx *store.Tx) error {
						return addDocument(tx, id, fmt.Sprint(id, i), "certification", fmt.Sprint("Level ", i))
					})
				},
				func(i int) error {
					return p.db.Write(bg, func(tx *store.Tx) error {
						return addDocument(tx, id, fmt.Sprint("p", id, i), "profile_picture", "me")
					})
				},
				func(i int) error {
					return p.db.Write(bg, func(tx *store.Tx) error {
						if _, err := tx.Exec(bg, `UPDATE accounts SET suspended_at = NULLIF($2, 0) WHERE id = $1`, id, i%3); err != nil {
							return err
						}
						return coach.ReindexListing(bg, tx, id)
					})
				},
				func(i int) error {
					return p.db.Write(bg, func(tx *store.Tx) error {
						if _, err := tx.Exec(bg, `UPDATE coaches SET tier = $2 WHERE id = $1`, id, fmt.Sprint("tier", i)); err != nil {
							return err
						}
						return coach.ReindexListing(bg, tx, id)
					})
				},
			}
			order := random.Perm(2 * len(changes))
			p.countCodes(concurrently(len(order), func(i int) error { return changes[order[i]%len(changes)](i) }))
			card, terms := p.storedListing(id)
			wantCard, wantTerms := p.reindexedListing(id)
			if card != wantCard || !slices.Equal(terms, wantTerms) {
				t.Fatalf("stale listing:\n%s %q\nwant\n%s %q", card, terms, wantCard, wantTerms)
			}
		}
	})
}

func TestListingFollowsProfile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		id := p.coach(1).AccountID
		ok(t, p.profile(id, "Asha Rao", "I coach runners.", "Athletics"))
		if card, _ := p.storedListing(id); card != "none" {
			t.Fatalf("listed before the coach asked for it: %s", card)
		}
		ok(t, p.show(id, true))
		long := strings.Repeat("word ", 300) + strings.Join(strings.Fields(fmt.Sprint(newRand(newSeed(t), 0).Perm(200))), " ")
		ok(t, p.profile(id, "Bela Rao", long, "Football", "Hockey"))
		card, terms := p.storedListing(id)
		if !strings.Contains(card, "Bela Rao") || slices.Contains(terms, "w:asha") || !slices.Contains(terms, "w:bel") || !slices.Contains(terms, "s:hockey") {
			t.Errorf("listing after the edit: %s %q", card, terms)
		}
		if len(terms) < 150 {
			t.Errorf("got %d terms of a long bio, want at least 150", len(terms))
		}
		ok(t, p.profile(id, "Bela Rao", "Short.", "Football"))
		if _, terms := p.storedListing(id); len(terms) > 20 {
			t.Errorf("got %d terms of a short bio, want at most 20: %q", len(terms), terms)
		}
		ok(t, p.show(id, false))
		if card, terms := p.storedListing(id); card != "none" || len(terms) > 0 {
			t.Errorf("listing of a hidden coach: %s %q, want none", card, terms)
		}
		if err := p.coaches().SetVisibility(bg, "unknown", nil); fault.CodeOf(err) != "session_revoked" { // as for a closed account
			t.Errorf("unknown coach: got %v, want session_revoked", err)
		}
		if _, err := p.coaches().Listing(bg, id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("hidden coach: got %v, want not_found", err)
		}
		ok(t, p.db.Write(bg, func(tx *store.Tx) error { return coach.ReindexListing(bg, tx, "unknown") }))
	})
}

func TestDirectoryAppliesSettingsOnRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		id := p.coach(1).AccountID
		ok(t, p.profile(id, "Asha Rao", "I coach runners.", "Athletics"))
		ok(t, p.show(id, true))
		ok(t, p.db.Write(bg, func(tx *store.Tx) error { return addDocument(tx, id, "picture", "profile_picture", "me") }))
		all := coach.Tier{Name: "all", Shows: coach.Showable}
		bio := coach.Tier{Name: "bio", Shows: []string{"bio"}, KYCFor: []string{coach.ForVisibility}}
		none := coach.Tier{Name: "none"}
		for _, tt := range []struct {
			what     string
			tiers    coach.Tiers
			required []string
			listed   bool
			byName   bool
			byBio    bool
			picture  bool
		}{
			{"all", coach.Tiers{List: []coach.Tier{all}}, []string{"name", "profile_picture"}, true, true, true, true},
			{"incomplete", coach.Tiers{List: []coach.Tier{all}}, []string{"name", "experience_years"}, false, false, false, false},
			{"only the bio", coach.Tiers{List: []coach.Tier{bio}}, nil, true, false, true, false},
			{"unverified", coach.Tiers{List: []coach.Tier{bio}, KYC: true}, nil, false, false, false, false},
			{"tier without directory", coach.Tiers{List: []coach.Tier{none}}, nil, false, false, false, false},
		} {
			d := &coach.Directory{Store: p.coaches(), Tiers: tt.tiers, Required: tt.required, Now: p.clock.Now}
			finds := func(text string) bool {
				q, _ := coach.NewQuery("", text)
				found, next, err := d.List(bg, q, "", 10)
				ok(t, err)
				return len(found) == 1 && next == ""
			}
			_, err := d.Coach(bg, id)
			picture, failed := d.ShowsPicture(bg, id)
			ok(t, failed)
			if (err == nil) != tt.listed || finds("") != tt.listed || finds("asha") != tt.byName || finds("runners") != tt.byBio || picture != tt.picture {
				t.Errorf("%s: error %v, found by empty query %v, by name %v, by bio %v, picture shown %v", tt.what, err, finds(""), finds("asha"), finds("runners"), picture)
			}
		}
	})
}

// TestSearchPages checks that the pages of a search contain every match once,
// newest first, although each page reads a bounded number of rows.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		n := 3*coach.SearchWindow + 7
		p.fillDirectory(n)
		d := &coach.Directory{Store: p.coaches(), Tiers: coach.Tiers{List: coach.DefaultTiers()}, Required: []string{"name"}, Now: p.clock.Now}
		limit := 100
		for _, tt := range []struct {
			sport, text string
			want        func(i int) bool
		}{
			{"", "", func(int) bool { return true }},
			{"hockey", "", func(i int) bool { return i%2 == 0 }},
			{"hockey", "asha", func(i int) bool { return i%10 == 0 }},
			{"hockey", "everybody mina", func(i int) bool { return i%2 == 0 && i%3 == 1 }},
			{"hockey", "odd", func(i int) bool { return false }},
			{"", "everybody asha odd", func(i int) bool { return false }},
			{"", "everybody rare42", func(i int) bool { return i%1000 == 42 }},
			{"hockey", "everybody", func(i int) bool { return i%2 == 0 }}, // pages longer than the search window
		} {
			if tt.text == "everybody" {
				limit = 2 * coach.SearchWindow
			}
			q, _ := coach.NewQuery(tt.sport, tt.text)
			var got []string
			pages, next := 0, ""
			for {
				page, after, err := d.List(bg, q, next, limit)
				ok(t, err)
				for _, l := range page {
					got = append(got, l.CoachID)
				}
				pages++
				if after == "" {
					break
				}
				if next != "" && after >= next || pages > 100 {
					t.Fatalf("search %q %q makes no progress: cursor %s, then %s", tt.sport, tt.text, next, after)
				}
				next = after
			}
			var want []string
			for i := n; i > 0; i-- {
				if tt.want(i) {
					want = append(want, directoryID(i))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("sport %q, q %q: got %d coaches in %d pages, want %d", tt.sport, tt.text, len(got), pages, len(want))
			}
		}
	})
}

func directoryID(i int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012d", i) }

// fillDirectory lists n coaches. The word "everybody" finds all, the sport hockey
// the even ones, "odd" the odd ones, "asha" every tenth, "mina" every third, and
// "rareN" every thousandth.
func (p *fixture) fillDirectory(n int) {
	p.Helper()
	// Pad to twelve digits without a function that one engine lacks.
	const ids = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1),
		c (i, id) AS (SELECT i, '01900000-0000-7000-8000-' || substr(CAST(1000000000000 + i AS TEXT), 2) FROM n) `
	ok(p, run(p.db, `INSERT INTO accounts (id, mobile_number, role, created_at) `+ids+`SELECT id, id, 'coach', i FROM c`, n))
	const card = `{"kyc":"not_started","filled":["name","bio","experience_years","sports"],"show":["name","bio","sports","experience_years","verified"],` +
		`"name":"Everybody Asha Mina Rao","bio":"I coach children and grown-ups, three evenings a week and on Saturdays, whatever the weather.","sports":["Hockey"],"years":7}`
	ok(p, run(p.db, `INSERT INTO listings (coach_id, card, updated_at) `+ids+`SELECT id, CAST($2 AS TEXT), i FROM c`, n, card))
	for _, term := range []string{
		`'w:everybody' FROM c`, `'s:hockey' FROM c WHERE i % 2 = 0`, `'w:odd' FROM c WHERE i % 2 = 1`, `'w:asha' FROM c WHERE i % 10 = 0`,
		`'w:mina' FROM c WHERE i % 3 = 1`, `'w:rare' || (i % 1000) FROM c`,
	} {
		ok(p, run(p.db, `INSERT INTO listing_terms (coach_id, term) `+ids+`SELECT id, `+term, n))
	}
	if p.postgres {
		for _, table := range []string{"listings", "listing_terms", "accounts"} {
			ok(p, run(p.db, `VACUUM ANALYZE `+table)) // as autovacuum does
		}
	}
}
