package web

import (
	"testing"
	"time"
)

func TestDays(t *testing.T) {
	t.Parallel()
	r, err := sharedRenderer()
	if err != nil {
		t.Fatal(err)
	}
	v, hindi := &View{texts: r.catalogue.translations["en"]}, &View{texts: r.catalogue.translations["hi"]}
	for d, want := range map[time.Duration]string{
		0:                              "less than a minute",
		time.Minute - 1:                "less than a minute",
		time.Minute:                    "1 minute",
		59 * time.Minute:               "59 minutes",
		time.Hour:                      "1 hour",
		24*time.Hour - 1:               "23 hours",
		24 * time.Hour:                 "1 day",
		3*24*time.Hour + 5*time.Minute: "3 days",
	} {
		if got := v.Days(d); got != want {
			t.Errorf("Days(%s) is %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{-time.Second: "एक मिनट से कम", time.Minute: "1 मिनट"} {
		if got := hindi.Days(d); got != want {
			t.Errorf("Days(%s) is %q in Hindi, want %q", d, got, want)
		}
	}
}
