package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

type sample struct {
	Name  string           `json:"name" rule:"required,name,min=1,max=10"`
	Notes wire.Opt[string] `json:"notes" rule:"lines,max=20"`
	Years *int             `json:"years" rule:"min=0,max=80"`
	All   bool             `json:"all"`
	Kind  string           `json:"kind" rule:"oneof=a|b"`
	Tags  []string         `json:"tags" rule:"min=1,max=3,each=5"`
	Token string           `json:"token" rule:"secret"`
	ID    string           `json:"id" rule:"id"`
	Value *float64         `json:"value"`
	Inner *struct {
		Place string `json:"a/b~c" rule:"required"`
	} `json:"inner"`
	Other wire.Opt[struct {
		Place *string `json:"place"`
	}] `json:"other"`
}

// decode parses raw and binds it to a sample.
func decode(raw []byte) (in sample, f wire.Faults, err error) {
	v, err := wire.Parse(raw, &f)
	if err != nil {
		return in, nil, err
	}
	wire.Bind(v, &in, &f)
	return in, f, nil
}

func TestDecodeFaults(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string // pointer and code of every fault, in order
	}{
		{"valid", `{"name":"Asha"}`, nil},
		{"not an object", `[]`, []string{" invalid_type"}},
		{"null", `null`, []string{" invalid_type"}},
		{"every fault is reported", `{"years":"3","all":1,"kind":"c","tags":{},"inner":{"a/b~c":7,"x":1},"b":2,"a":1}`, []string{
			"/name required", "/years invalid_type", "/all invalid_type", "/kind invalid_value", "/tags invalid_type",
			"/inner/a~1b~0c invalid_type", "/inner/x unknown_field", "/a unknown_field", "/b unknown_field",
		}},
		{"null for optional and required fields", `{"name":null,"years":null,"tags":null}`, []string{"/name invalid_type"}},
		{"null in a merge patch", `{"name":"A","notes":null,"other":null}`, nil},
		{"duplicate field", `{"name":"A","name":"B"}`, []string{"/name duplicate_field"}},
		{"field names are case sensitive", `{"Name":"A"}`, []string{"/name required", "/Name unknown_field"}},
		{"empty after trimming", `{"name":" \u2003 "}`, []string{"/name too_short"}},
		{"bounds count characters", `{"name":"अआइईउऊऋएऐओ"}`, nil},
		{"too long", `{"name":"12345678901"}`, []string{"/name too_long"}},
		{"NUL", `{"name":"A\u0000"}`, []string{"/name invalid_characters"}},
		{"white space around values", "\t{\r\n\"name\"\t:\n\"A\"\t,\"years\":\t7\n,\"value\"\r:\t1.5\t}\n", nil},
		{"tab in a name", `{"name":"A\tB"}`, nil},
		{"newline in a name", `{"name":"A\nB"}`, []string{"/name invalid_characters"}},
		{"newline and tab in notes", `{"name":"A","notes":"a\r\n\tb"}`, nil},
		{"bell in notes", `{"name":"A","notes":"\u0007"}`, []string{"/notes invalid_characters"}},
		{"bidirectional override", `{"name":"A\u202eB"}`, []string{"/name invalid_characters"}},
		{"bidirectional isolate", `{"name":"A\u2067B"}`, nil},
		{"line separator", `{"name":"A\u2028B"}`, []string{"/name invalid_characters"}},
		{"invisible characters only", `{"name":"\u200b\u200b"}`, []string{"/name too_short"}},
		{"filler letters only", `{"name":"\u3164\u115f \uffa0"}`, []string{"/name too_short"}},
		{"blank symbols only", `{"name":"\u2800"}`, []string{"/name invalid_characters"}},
		{"punctuation only", `{"name":"--"}`, []string{"/name invalid_characters"}},
		{"bounds count emoji", `{"name":"😀😀😀😀😀😀😀😀😀😀"}`, nil},
		{"too many emoji", `{"name":"😀😀😀😀😀😀😀😀😀😀😀"}`, []string{"/name too_long"}},
		{"HTML is plain text", `{"name":"<script>"}`, nil},
		{"above the maximum", `{"name":"A","years":81}`, []string{"/years too_large"}},
		{"below the minimum", `{"name":"A","years":-1}`, []string{"/years too_small"}},
		{"fraction", `{"name":"A","years":1.5}`, []string{"/years invalid_type"}},
		{"whole number with exponent", `{"name":"A","years":1e1}`, nil},
		{"more than 64 bits", `{"name":"A","years":99999999999999999999999}`, []string{"/years too_large"}},
		{"more than a float64", `{"name":"A","years":1e999}`, []string{"/years invalid_type"}},
		{"too few items", `{"name":"A","tags":[]}`, []string{"/tags too_few"}},
		{"too many items", `{"name":"A","tags":["a","b","c","d"]}`, []string{"/tags too_many"}},
		{"invalid items", `{"name":"A","tags":["",2,"123456"]}`, []string{"/tags/0 too_short", "/tags/1 invalid_type", "/tags/2 too_long"}},
		{"UUID of another version", `{"name":"A","id":"0198F2C4-6a10-4c3e-9b52-4f0e8d1a7b21"}`, nil},
		{"UUID in braces", `{"name":"A","id":"{0198f2c4-6a10-4c3e-9b52-4f0e8d1a7b21}"}`, []string{"/id invalid_id"}},
		{"fraction below float64 precision", `{"name":"A","years":3.00000000000000000001}`, []string{"/years invalid_type"}},
		{"underflow", `{"name":"A","years":1e-400}`, []string{"/years invalid_type"}},
		{"zero with exponent", `{"name":"A","years":0e-400}`, nil},
		{"number", `{"name":"A","value":-12.50}`, nil},
		{"number in a string", `{"name":"A","value":"1"}`, []string{"/value invalid_type"}},
		{"number beyond a float64", `{"name":"A","value":1e999}`, []string{"/value invalid_type"}},
		{"object in a merge patch", `{"name":"A","other":{"place":1}}`, []string{"/other/place invalid_type"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, fields, err := decode([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range fields {
				got = append(got, f.Pointer+" "+f.Code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNameDetail: the detail says what a name must contain, since "--" is visible.
func TestNameDetail(t *testing.T) {
	_, fields, err := decode([]byte(`{"name":"--"}`))
	if err != nil || len(fields) != 1 || fields[0].Detail != "This must contain a letter, a number or an emoji." {
		t.Errorf("faults %+v, error %v", fields, err)
	}
}

func TestDecodeValues(t *testing.T) {
	in, fields, err := decode([]byte(`{"name":" Zoe\u0308 ","notes":" a\r\nb ","years":7,"token":" t ","other":{"place":"x"},"tags":["a "]}`))
	if err != nil || len(fields) > 0 {
		t.Fatal(fields, err)
	}
	if in.Name != "Zoë" || in.Notes != (wire.Opt[string]{Set: true, Value: "a\nb"}) || *in.Years != 7 || in.Token != " t " || in.Tags[0] != "a" {
		t.Errorf("decoded %+v", in)
	}
	if in.Inner != nil || in.Other.Some() == nil || *in.Other.Some().Place != "x" {
		t.Errorf("nested: %+v %+v", in.Inner, in.Other)
	}
	in, _, _ = decode([]byte(`{"name":"A","notes":null}`))
	if !in.Notes.Set || !in.Notes.Null || in.Notes.Some() != nil || in.Other.Set {
		t.Errorf("null: %+v %+v", in.Notes, in.Other)
	}
}

func TestDecodeMalformed(t *testing.T) {
	for _, body := range []string{
		``, ` `, `{`, `{}{}`, `{} x`, `{"a":1,}`, `[1,]`, `nul`, `'a'`, `{"a":NaN}`, `{"a":01}`, "{\"a\":\"\xff\"}", "\ufeff{}", `{"a":"\ud800"}`,
		`{"a":"\udc00\ud800"}`, `{"\ud83dx":1}`, strings.Repeat("[", 100) + strings.Repeat("]", 100),
		strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000),
	} {
		_, _, err := decode([]byte(body))
		if fault.CodeOf(err) != "malformed_request" {
			t.Errorf("%.20q: %v, want malformed_request", body, err)
		}
	}
	if _, _, err := decode([]byte(`{"name":"\ud83d\ude00 \\ud800"}`)); err != nil {
		t.Errorf("complete surrogate pair: %v", err)
	}
}

func TestDecodeReportsAtMost100Faults(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `,"x%d":1`, i)
	}
	_, fields, err := decode([]byte(`{"name":"A"` + b.String() + `}`))
	if err != nil || len(fields) != 100 {
		t.Errorf("got %d faults, %v, want 100", len(fields), err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"name":"A"}`, `{"name":"\ud83d\ude00","tags":["a",null]}`, `{"a":{"b":[1e9,{}]}}`, `"\\\ud800"`, `{"years":-0.0}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, fields, err := decode(raw)
		if err != nil {
			if fault.KindOf(err) != fault.Malformed {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("%q is invalid JSON or UTF-8 and was accepted", raw)
		}
		for _, field := range fields {
			if field.Code == "" || field.Detail == "" || field.Pointer != "" && field.Pointer[0] != '/' {
				t.Fatalf("fault %+v", field)
			}
		}
		if len(fields) == 0 && (in.Name == "" || utf8.RuneCountInString(in.Name) > 10 || strings.ContainsAny(in.Name, "\x00\n\u202e")) {
			t.Fatalf("%q gave the name %q", raw, in.Name)
		}
	})
}
