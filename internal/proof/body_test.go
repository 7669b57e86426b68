package proof

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// testChange is an approval of a guardian.
func testChange() approval.ConsentChange {
	at := time.Date(2026, 3, 2, 9, 15, 0, 123456000, time.UTC)
	return approval.ConsentChange{
		ID: "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", Kind: approval.ConsentKind(approval.Approve), Party: actor.Guardian, Before: approval.Pending, After: approval.Approved,
		Player: &approval.Player{
			ID: "p1", CoachID: "c1", CoachName: "Ravi <Kumar> & Söhne",
			Student: approval.Child{FullName: "आशा राव", DateOfBirth: approval.Date{Year: 2014, Month: 5, Day: 6}},
			Parties: []approval.Party{
				{Role: actor.Guardian, AccountID: "g1", Person: approval.Person{Name: "Meera Rao", Relationship: "mother", Number: "+919800000001"}},
				{Role: actor.Student, Person: approval.Person{Number: "+919800000002"}},
			},
		},
		Wording:   approval.Wording{Language: "hi", TextHash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", NoticeHash: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"},
		RequestID: "r1", Reason: "Yes, from Monday", At: at,
		Proof: approval.AdultProof{Method: "digilocker", Provider: "digilocker", NameFit: "same", Assurance: "eaadhaar", At: at.Add(-time.Hour)},
		By:    actor.Actor{AccountID: "g1", Role: actor.Guardian, Via: actor.ViaPage, SignedInAt: at.Add(-42 * time.Second)},
	}
}

// TestBody: the bytes of a body are canonical JSON, and have no value of a person.
func TestBody(t *testing.T) {
	c := testChange()
	key := bytes.Repeat([]byte{7}, keyBytes)
	claims := claimsOf(c)
	body := newBody(c, claims.digests(key), store.Settings{Brand: "Touchline"}).encode()
	const golden = "testdata/body.golden"
	if *update {
		if err := os.WriteFile(golden, body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(body, want) {
		t.Errorf("%v\n got %s\nwant %s", err, body, want)
	}
	var sorted map[string]any
	if err := json.Unmarshal(body, &sorted); err != nil {
		t.Fatal(err)
	}
	if again := encodeJSON(sorted); !bytes.Equal(again, body) {
		t.Errorf("not canonical:\n got %s\nwant %s", body, again)
	}
	for name, value := range claims {
		if strings.Contains(string(body), `"`+value+`"`) {
			t.Errorf("the body has %s in plain", name)
		}
	}
	if len(body) > 1500 {
		t.Errorf("the body has %d bytes", len(body))
	}
}

// TestDisclosures: each disclosure has its digest in the body, and disclosures can be left out. The same value
// has another digest in another record.
func TestDisclosures(t *testing.T) {
	key, claims := bytes.Repeat([]byte{7}, keyBytes), claimsOf(testChange())
	b := Body{SD: claims.digests(key)}
	if len(b.SD) != len(claimNames) {
		t.Errorf("got %d digests, want %d", len(b.SD), len(claimNames))
	}
	all := claims.disclosures(key)
	got, err := b.disclosed(all)
	if err != nil || len(got) != len(claims)-1 || got[claimRow] != "" || got["student_name"] != "आशा राव" || got["coach_name"] != "Ravi <Kumar> & Söhne" {
		t.Errorf("got %v, %v, want %v", got, err, claims)
	}
	if a := got.Proof(); a == nil || *a != (AdultProof{Adult: true, Assurance: "eaadhaar", At: "2026-03-02T08:15:00Z", Method: "digilocker", NameFit: "same", Provider: "digilocker"}) {
		t.Errorf("got the proof %+v", a)
	}
	if one, err := b.disclosed(all[2:3]); err != nil || len(one) != 1 {
		t.Errorf("one alone: got %v, %v", one, err)
	}
	other := Body{SD: claims.digests(bytes.Repeat([]byte{8}, keyBytes))}
	for _, d := range other.SD {
		for _, same := range b.SD {
			if d == same {
				t.Error("two records have the same digest")
			}
		}
	}
	for what, wrong := range map[string][]string{
		"of another key": claims.disclosures(bytes.Repeat([]byte{8}, keyBytes))[:1],
		"twice":          {all[0], all[0]}, "no base64": {"!"}, "line break": {all[0] + "\n"}, "no JSON": {"AAAA"}, "two parts": {"WyJhIiwiYiJd"},
	} {
		if _, err := b.disclosed(wrong); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
