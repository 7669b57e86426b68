package consent_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/consent"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

func TestSendRequests(t *testing.T) {
	both := []message.Channel{"in_app", "sms"}
	id := `"player_id":"` + playerID + `"`
	tests := map[string]struct {
		body     string
		channels []message.Channel
		faults   []string
	}{
		"channels left out":         {`{` + id + `}`, nil, nil},
		"both":                      {`{` + id + `,"channels":["in_app","sms"]}`, both, nil},
		"one":                       {`{` + id + `,"channels":["sms"]}`, both[1:], nil},
		"e-mail":                    {`{` + id + `,"channels":["sms","email"]}`, nil, []string{"/channels/1 not_available"}},
		"unknown":                   {`{` + id + `,"channels":["pigeon"]}`, nil, []string{"/channels/0 invalid_value"}},
		"twice":                     {`{` + id + `,"channels":["sms","sms"]}`, nil, []string{"/channels/1 not_unique"}},
		"none":                      {`{` + id + `,"channels":[]}`, nil, []string{"/channels too_few"}},
		"null":                      {`{` + id + `,"channels":null}`, nil, nil},
		"not a list":                {`{` + id + `,"channels":"sms"}`, nil, []string{"/channels invalid_type"}},
		"not strings":               {`{` + id + `,"channels":[1,"sms"]}`, nil, []string{"/channels/0 invalid_type"}},
		"no player":                 {`{}`, nil, []string{"/player_id required"}},
		"player_id of another type": {`{"player_id":7}`, nil, []string{"/player_id invalid_type"}},
	}
	for name, tt := range tests {
		for who, read := range map[string]func([]byte) (approval.Patch, []message.Channel, error){"guardian": inputs.SendGuardian, "student": inputs.SendStudent} {
			t.Run(name+"/"+who, func(t *testing.T) {
				patch, channels, err := read([]byte(tt.body))
				if diff := cmp.Diff(tt.faults, faultsOf(t, err)); diff != "" {
					t.Fatalf("faults (-want +got):\n%s", diff)
				}
				if err == nil && (!slices.Equal(channels, tt.channels) || patch != (approval.Patch{})) {
					t.Errorf("channels %v, patch %+v", channels, patch)
				}
			})
		}
	}
}

func TestCorrections(t *testing.T) {
	id := `"player_id":"` + playerID + `"`
	got, _, err := inputs.SendGuardian([]byte(`{` + id + `,"guardian":{"mobile_number":"9898765433"}}`))
	if diff := cmp.Diff(approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(phone.Number("+919898765433"))}}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	got, _, err = inputs.SendStudent([]byte(`{` + id + `,"student":{"contact_number":"9876501235"}}`))
	if diff := cmp.Diff(approval.Patch{Student: approval.StudentPatch{Number: ptr(phone.Number("+919876501235"))}}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for body, want := range map[string]string{
		`"guardian":{}`:                    "/guardian required",
		`"guardian":[]`:                    "/guardian invalid_type",
		`"student":{"contact_number":"1"}`: "/student unknown_field",
	} {
		_, _, err := inputs.SendGuardian([]byte(`{` + id + `,` + body + `}`))
		if got := faultsOf(t, err); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", body, got)
		}
	}
	for body, want := range map[string]string{
		`"student":{}`:                       "/student/contact_number required",
		`"student":{"contact_number":null}`:  "/student/contact_number invalid_type",
		`"student":{"contact_number":"112"}`: "/student/contact_number invalid_number",
	} {
		_, _, err := inputs.SendStudent([]byte(`{` + id + `,` + body + `}`))
		if got := faultsOf(t, err); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", body, got)
		}
	}
}

func TestDecisions(t *testing.T) {
	id := `"player_id":"` + playerID + `"`
	got, err := inputs.Decision([]byte(`{` + id + `,"action":"rejected","request_id":"` + guardianRequestID + `","reason":" No.\r\nNot now. "}`))
	if want := (approval.Decision{Action: approval.Reject, RequestID: guardianRequestID, Reason: "No.\nNot now."}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := inputs.Decision([]byte(`{` + id + `,"action":"approved","reason":null}`)); err != nil || got.Reason != "" {
		t.Errorf("%+v, %v", got, err)
	}
	for body, want := range map[string][]string{
		`{` + id + `}`:                                                                 {"/action required"},
		`{` + id + `,"action":"ask"}`:                                                  {"/action invalid_value"},
		`{` + id + `,"action":"pending","request_id":"7"}`:                             {"/action invalid_value", "/request_id invalid_id"},
		`{` + id + `,"action":"approved","approver_type":"guardian"}`:                  {"/approver_type unknown_field"},
		`{` + id + `,"action":"approved","reason":"` + strings.Repeat("é", 501) + `"}`: {"/reason too_long"},
		`{` + id + `,"action":"approved","reason":"a\u0000b"}`:                         {"/reason invalid_characters"},
	} {
		_, err := inputs.Decision([]byte(body))
		if got := faultsOf(t, err); !slices.Equal(got, want) {
			t.Errorf("%s: %q", body, got)
		}
	}
}

func TestPlayerFilter(t *testing.T) {
	got, err := consent.Filter(url.Values{"guardian_status": {"approved"}, "guardian_state": {"approved"}, "student_state": {"revoked"}, "q": {" meh "}})
	if err != nil || got != (approval.Filter{GuardianStatus: "approved", GuardianState: "approved", StudentState: "revoked", Search: "meh"}) {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = consent.Filter(url.Values{"guardian_status": {"revoked"}, "student_status": {""}, "guardian_state": {"gone"}, "q": {""}}) // an empty search finds all players
	if got := faultsOf(t, err); !slices.Equal(got, []string{"/guardian_state invalid_value", "/guardian_status invalid_value", "/student_status invalid_value"}) {
		t.Errorf("%q", got)
	}
	for _, q := range []string{"\xff", "a\x00b", strings.Repeat("x", 101)} {
		if _, err := consent.Filter(url.Values{"q": {q}}); err == nil {
			t.Errorf("q=%q: got no fault", q)
		}
	}
}
