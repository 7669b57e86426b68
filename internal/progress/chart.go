package progress

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/team"
)

// The size of a chart, in the units of its drawing.
const (
	chartWidth  = 320
	chartHeight = 150
	chartMargin = 16
	// The axes leave room for the values at the left and for the days below.
	chartLeft   = 56
	chartBottom = 118
	// chartPoints is how many of the newest values a chart shows.
	chartPoints = 60
)

// metricView is one metric of a player: its values, newest first, and a chart of them.
type metricView struct {
	Metric, Unit string
	Values       []Measurement
	Chart        *chartView // nil for fewer than two values
}

// chartView is a line through the values of a metric, oldest first. The template draws it as
// SVG; the values are in the table below it.
type chartView struct {
	Width, Height int
	// Line has the points as an SVG polyline names them.
	Line              string
	Points            []chartPoint
	Smallest, Largest string
	// Left, Right, Top and Bottom are the ends of the axes. Newest is the last value with its unit, at the last point.
	Left, Right, Top, Bottom int
	Newest                   string
	FirstDay, LastDay        team.Date
}

type chartPoint struct{ X, Y string }

// newMetricViews groups measurements, newest first, by metric, in the order of the metrics'
// newest values.
func newMetricViews(list []Measurement) []*metricView {
	var views []*metricView
	for _, m := range list {
		i := slices.IndexFunc(views, func(v *metricView) bool { return v.Metric == m.Metric && v.Unit == m.Unit })
		if i < 0 {
			i = len(views)
			views = append(views, &metricView{Metric: m.Metric, Unit: m.Unit})
		}
		views[i].Values = append(views[i].Values, m)
	}
	for _, v := range views {
		v.Chart = newChart(v.Values)
	}
	return views
}

// newChart returns a chart of the values, which are newest first.
func newChart(values []Measurement) *chartView {
	values = slices.Clone(values[:min(len(values), chartPoints)])
	if len(values) < 2 {
		return nil
	}
	slices.Reverse(values)
	byValue := func(a, b Measurement) int { return cmp.Compare(a.Value, b.Value) }
	smallest, largest := slices.MinFunc(values, byValue).Value, slices.MaxFunc(values, byValue).Value
	first, last := day(values[0]), day(values[len(values)-1])
	c := &chartView{
		Width: chartWidth, Height: chartHeight, Smallest: numberText(smallest), Largest: numberText(largest),
		Left: chartLeft, Right: chartWidth - chartMargin, Top: chartMargin, Bottom: chartBottom, Newest: values[len(values)-1].Text(),
		FirstDay: values[0].On, LastDay: values[len(values)-1].On,
	}
	var line []string
	for i, m := range values {
		x := scale(float64(day(m).Sub(first)), 0, float64(last.Sub(first)), chartLeft, chartWidth-chartMargin)
		if last.Equal(first) { // several values of one day stand side by side
			x = scale(float64(i), 0, float64(len(values)-1), chartLeft, chartWidth-chartMargin)
		}
		p := chartPoint{coordinate(x), coordinate(scale(m.Value, smallest, largest, chartBottom, chartMargin))}
		c.Points = append(c.Points, p)
		line = append(line, p.X+","+p.Y)
	}
	c.Line = strings.Join(line, " ")
	return c
}

// scale maps v from one range to another. A range without a length maps to the middle.
func scale(v, fromMin, fromMax, toMin, toMax float64) float64 {
	if fromMax == fromMin {
		return (toMin + toMax) / 2
	}
	return toMin + (v-fromMin)/(fromMax-fromMin)*(toMax-toMin)
}

func day(m Measurement) time.Time {
	t, _ := time.Parse(time.DateOnly, string(m.On)) // the store has checked it
	return t
}

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// numberText returns a value as people write it, without an exponent.
func numberText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
