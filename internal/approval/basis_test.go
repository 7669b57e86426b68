package approval_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/approval"
)

func TestBasisOf(t *testing.T) {
	t.Parallel()
	for _, b := range []approval.Basis{
		{Kind: approval.FamilyAsked},
		{Kind: approval.Membership},
		{Kind: approval.Membership, Note: "no. 7: old"},
		{Kind: approval.OtherBasis, Note: "School contract"},
		{Kind: approval.OtherBasis, Note: "membership of a friend"},
	} {
		if got, ok := approval.BasisOf(b.String()); got != b || !ok {
			t.Errorf("%q is %+v, want %+v", b.String(), got, b)
		}
	}
	if got, ok := approval.BasisOf(""); got != (approval.Basis{}) || !ok {
		t.Errorf("the empty text is %+v", got)
	}
	if _, ok := approval.BasisOf(strings.Repeat("अ", approval.MaxBasisNote+1)); ok {
		t.Error("a long note was taken")
	}
}
