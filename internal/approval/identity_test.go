package approval_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/team"
)

func TestFoldName(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"Asha Rao", "ASHA  rao ", true},
		{"José", "Jose\u0301", true},
		{"Asha\u200bRao", "AshaRao", true},
		{"Straße", "STRASSE", true},
		{"José", "Jose", true},
		{"Zoë", "zoe", true},
		{"Łukasz Søren Đorđe", "lukasz soren dorde", true},
		{"O’Brien", "O'Brien", true},
		{"O‘Brien", "O'Brien", true},
		{"Oʼbrien", "O'Brien", true},
		{"O´Brien", "o`brien", true},
		{"O＇Brien", "O'Brien", true},
		{"Anne\u2011Marie", "Anne-Marie", true},
		{"D'Souza", "D Souza", false},
		{"राम", "रमा", false},
		{"आशा", "आश", false},
		{"ज़ोया", "ज\u093cोया", true},
		{"Asha Rao", "Rao Asha", false},
	} {
		if got := team.FoldName(tt.a) == team.FoldName(tt.b); got != tt.same {
			t.Errorf("FoldName(%q) == FoldName(%q) is %t, want %t", tt.a, tt.b, got, tt.same)
		}
	}
}

func TestAdultBirthDate(t *testing.T) {
	now := time.Date(2026, 3, 2, 23, 0, 0, 0, time.UTC)
	if got, want := approval.AdultBirthDate(now), (approval.Date{Year: 2008, Month: 3, Day: 2}); got != want {
		t.Errorf("AdultBirthDate = %v, want %v", got, want)
	}
}
