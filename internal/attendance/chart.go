package attendance

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/team"
)

// The size of a chart, in the units of its drawing.
const (
	chartWidth  = 320
	chartHeight = 130
	chartLeft   = 44
	chartTop    = 12
	chartBottom = 102
	// chartWeeks is how many weeks a chart shows at most.
	chartWeeks = 12
)

// weekBar is the share of the trainings of a week at which a player was.
type weekBar struct {
	Monday              team.Date
	Percent             int
	X, Y, Width, Height int
	Middle              int
	attended, trainings int
}

// chartView are the weeks of a player, oldest first.
type chartView struct {
	Width, Height, Left, Right, Top, Bottom int
	Bars                                    []*weekBar
}

// newChart returns a chart of marks, which are newest first; nil for fewer than two weeks.
func newChart(marks []Attended) *chartView {
	var bars []*weekBar
	for _, m := range marks {
		monday := m.Date.AddDays(-(int(m.Date.Weekday()-time.Monday+7) % 7))
		if len(bars) == 0 || bars[len(bars)-1].Monday != monday {
			if len(bars) == chartWeeks {
				break
			}
			bars = append(bars, &weekBar{Monday: monday})
		}
		week := bars[len(bars)-1]
		week.trainings++
		if m.Mark == team.Present || m.Mark == team.Late {
			week.attended++
		}
	}
	if len(bars) < 2 {
		return nil
	}
	slices.Reverse(bars)
	const right = chartWidth - 8
	step := min(48, (right-chartLeft)/len(bars))
	for i, b := range bars {
		b.Percent = (b.attended*100 + b.trainings/2) / b.trainings
		b.Height = max(1, b.Percent*(chartBottom-chartTop)/100)
		b.X, b.Y, b.Width = chartLeft+6+i*step, chartBottom-b.Height, step-8
		b.Middle = b.X + b.Width/2
	}
	return &chartView{chartWidth, chartHeight, chartLeft, right, chartTop, chartBottom, bars}
}
