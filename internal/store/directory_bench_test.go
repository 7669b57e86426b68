package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkDirectory compares the time of a page of 50 coaches in a directory of a
// thousand coaches with one of two hundred thousand; the ratio may be 1.5. The calls
// alternate between the two, because the machine's speed varies. The results are the
// medians and their ratio. A deep page begins in the middle of the list.
func BenchmarkDirectory(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { compareDirectories(b, storetest.SQLite) })
	b.Run("postgres", func(b *testing.B) { compareDirectories(b, storetest.Postgres) })
}

func compareDirectories(b *testing.B, open func(testing.TB) string) {
	sizes := []int{1_000, 200_000}
	var directories []*coach.Directory
	for _, n := range sizes {
		p := newFixture(b, open(b))
		p.fillDirectory(n)
		directories = append(directories, &coach.Directory{
			Store: p.coaches(), Tiers: coach.Tiers{List: coach.DefaultTiers()}, Required: []string{"name", "bio"}, Now: p.clock.Now,
		})
	}
	for _, page := range []struct {
		name, sport, text string
		deep              bool
		items             int
	}{
		{"plain", "", "", false, 50},
		{"plain/deep", "", "", true, 50},
		{"sport", "hockey", "", false, 50},
		{"sport/deep", "hockey", "", true, 50},
		{"q", "", "asha", false, 50},
		{"q/deep", "", "mina", true, 50},
		{"sport+q", "hockey", "mina everybody", false, 50},
		{"sport+q/deep", "hockey", "mina everybody", true, 50},
		{"none", "hockey", "odd", false, 0}, // two common terms; no coach has both
	} {
		b.Run(page.name, func(b *testing.B) {
			q, _ := coach.NewQuery(page.sport, page.text)
			took := make([][]time.Duration, len(sizes))
			for b.Loop() {
				for i, d := range directories {
					after := ""
					if page.deep {
						after = directoryID(sizes[i] / 2)
					}
					began := time.Now()
					found, _, err := d.List(bg, q, after, 50)
					took[i] = append(took[i], time.Since(began))
					ok(b, err)
					if len(found) != page.items {
						b.Fatalf("%d coaches of %d, want %d", len(found), sizes[i], page.items)
					}
				}
			}
			median := func(i int) float64 {
				slices.Sort(took[i])
				return float64(took[i][len(took[i])/2].Microseconds())
			}
			b.ReportMetric(median(0), "µs/1000")
			b.ReportMetric(median(1), "µs/200000")
			b.ReportMetric(median(1)/median(0), "ratio")
			b.ReportMetric(0, "ns/op") // hides the sum of both calls
		})
	}
}
