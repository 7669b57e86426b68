package phone_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"

	"github.com/touchline/touchline/internal/platform/phone"
)

var india = phone.Parser{DefaultRegion: "IN"}

func TestSpellings(t *testing.T) {
	const want = phone.Number("+919876543210")
	for _, spelling := range []string{
		"+919876543210",
		"+91 98765 43210",
		"+91-98765-43210",
		"+91 (98765) 43210",
		"(+91) 98765 43210",
		"[98765] 43210",
		"98765 43210",
		"9876543210",
		"09876543210",
		"098765 43210",
		"0091 98765 43210",
		"919876543210",
		"98765.43210",
		"98765/43210",
		"tel:+91-98765-43210",
		"tel:98765-43210;phone-context=+91",
		"TEL: +91 98765 43210",
		"＋９１　９８７６５　４３２１０",
		"９８７６５ー４３２１０",
		"९८७६५ ४३२१०",
		"٩٨٧٦٥٤٣٢١٠",
		"𝟗𝟖𝟕𝟔𝟓𝟒𝟑𝟐𝟏𝟎",
		"\u202a+91 98765 43210\u202c",
		"  +91 98765\u00a043210\n",
		// Characters inside that show nothing, from address books, chats and spreadsheets.
		"98765\u200e43210", "+91\u202f98765\u202f43210", "+\u202d91 98765 43210\u202c", "+91 \u206898765 43210\u2069", "+91\ufe0d98765 43210",
		"98765\ufeff43210", "98765\u200d43210", "98765\u00ad43210", "+91\t98765\t43210", "98765\u3164 43210", "+91\u200798765\u205f43210", "9️⃣876543210",
		// A zero before the country code.
		"0919876543210", "+091 98765 43210", "+0091 98765 43210", "00 0919876543210",
		"98765 43210,", "98765 43210;", "98765 43210.",
		// As spreadsheet programs keep or change a number.
		`="+919876543210"`, `="9876543210"`, `"9876543210"`, "9876543210.0", "919876543210,00", "9.876543210E9", "9,876543210E+09", "9.19876543210E11",
		"98765 43210 (Father)", "9876543210 (मम्मी)",
	} {
		got, err := india.Parse(spelling)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", spelling, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, s := range map[string]string{
		"empty":                  "",
		"blank":                  "   ",
		"words":                  "call me",
		"too short":              "98765",
		"too long":               "+9198765432101234",
		"unused block":           "+911111111111",
		"no such country":        "+9999876543210",
		"fixed line":             "+912222123456",
		"fixed line abroad":      "+442071838750",
		"toll free":              "1800 123 4567",
		"premium":                "+449098790123",
		"emergency":              "112",
		"extension":              "+91 98765 43210 ext. 7",
		"NUL":                    "+91987654\x003210",
		"NUL at the end":         "+919876543210\x00",
		"newline within":         "+91987654\n3210",
		"invalid UTF-8":          "+91987654\xff3210",
		"invalid UTF-8 at last":  "+919876543210\xc3",
		"script":                 "+919876543210<script>",
		"two numbers":            "+919876543210, +919876543211",
		"fixed line, 0 and code": "0912222123456",
		"shortened":              "9.8765E+09",
		"a digit left out":       "9.87654321E9", // libphonenumber reads the letter as a 3: another number
		"a digit of 12 left out": "9.198765432e11",
		"shortened, no plus":     "9.81235E11",
		"note with a number":     "98765 43210 (or 98765 43211)",
		"new range of no mobile": "+255125292908",
		"long":                   "+91" + strings.Repeat(" ", 200) + "9876543210",
		"very long":              strings.Repeat("9", 1<<20),
	} {
		got, err := india.Parse(s)
		if !errors.Is(err, phone.ErrInvalid) || got != "" {
			t.Errorf("%s: Parse = %q, %v; want ErrInvalid", name, got, err)
		}
	}
	if got, err := (phone.Parser{}).Parse("98765 43210"); err == nil {
		t.Errorf("without a region, Parse of a national number = %q", got)
	}
}

// TestNewRanges: a number of a range that the library does not know yet is accepted, as long as it may be a mobile number.
// All known types but mobile stay refused.
func TestNewRanges(t *testing.T) {
	for _, tt := range []struct{ in, want, region string }{
		{"+255 725 292 908", "+255725292908", "TZ"},
		{"+91 60990 12345", "+916099012345", "IN"},
		{"+1 (983) 555-0123", "+19835550123", "US"},
		{"+52 1 55 1234 5678", "+525512345678", "MX"},
	} {
		n, err := india.Parse(tt.in)
		if err != nil || string(n) != tt.want || n.Region() != tt.region {
			t.Errorf("%s: %s of %s, %v; want %s of %s", tt.in, n, n.Region(), err, tt.want, tt.region)
		}
		if again, err := india.Parse(n.Format()); err != nil || again != n {
			t.Errorf("%s: %s, %v", n.Format(), again, err)
		}
	}
}

// TestMobileRanges: an operator adds ranges that the library does not have, or has as another type.
func TestMobileRanges(t *testing.T) {
	operator := phone.Parser{DefaultRegion: "IN", MobileRanges: []string{"+9155", "+255125", "+912222"}}
	for in, want := range map[string]phone.Number{
		"055512 34567": "+915551234567", "+255 125 292 908": "+255125292908", "+91 22 2212 3456": "+912222123456",
		"+91 55512 345": "", "+91 33333 45678": "", "+255 126 292 908": "",
	} {
		got, err := operator.Parse(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
		if other, err := india.Parse(in); err == nil {
			t.Errorf("without the range %s is %s", in, other)
		}
	}
}

func TestRegionMaskFormat(t *testing.T) {
	for _, tt := range []struct{ in, region, mask, format string }{
		{"+919876543210", "IN", "+91••••••3210", "+91 98765 43210"},
		{"+12015550123", "US", "+1••••••0123", "+1 201-555-0123"},
		{"+15062345678", "CA", "+1••••••5678", "+1 506-234-5678"},
		{"+18762101234", "JM", "+1••••••1234", "+1 876-210-1234"},
		{"+79123456789", "RU", "+7••••••6789", "+7 912 345-67-89"},
		{"+77710009998", "KZ", "+7••••••9998", "+7 771 000 9998"},
		{"+447400123456", "GB", "+44••••••3456", "+44 7400 123456"},
		{"+447781123456", "GG", "+44••••••3456", "+44 7781 123456"},
		{"+447797712345", "JE", "+44••••••2345", "+44 7797 712345"},
		{"+6581234567", "SG", "+65••••••67", "+65 8123 4567"},
		{"+29051234", "SH", "+290••••••", "+290 51234"},
		{"+358412345678", "FI", "+358••••••678", "+358 41 2345678"},
	} {
		n, err := india.Parse(tt.in)
		if err != nil || string(n) != tt.in {
			t.Errorf("Parse(%q) = %q, %v", tt.in, n, err)
			continue
		}
		if got := n.Region(); got != tt.region {
			t.Errorf("%s: Region = %q, want %q", n, got, tt.region)
		}
		if got := n.Mask(); got != tt.mask {
			t.Errorf("%s: Mask = %q, want %q", n, got, tt.mask)
		}
		if got := n.Format(); got != tt.format {
			t.Errorf("%s: Format = %q, want %q", n, got, tt.format)
		}
	}
}

func TestEnding(t *testing.T) {
	for n, want := range map[phone.Number]string{
		"+919876543210": "•••• 3210", "+6581234567": "•••• 67", "+29051234": "••••", "": "••••", "9876543210": "••••",
	} {
		if got := n.Ending(); got != want {
			t.Errorf("%q: Ending = %q, want %q", string(n), got, want)
		}
	}
}

// TestEveryCountry parses the library's example of a mobile number for each country.
func TestEveryCountry(t *testing.T) {
	examples := 0
	for region := range phonenumbers.GetSupportedRegions() {
		example := phonenumbers.GetExampleNumberForType(region, phonenumbers.MOBILE)
		if example == nil {
			continue
		}
		examples++
		// Not the national spelling: Argentina's example is written without its area.
		spelled := phonenumbers.Format(example, phonenumbers.INTERNATIONAL)
		n, err := phone.Parser{DefaultRegion: region}.Parse(spelled)
		if err != nil {
			t.Errorf("%s: Parse(%q): %v", region, spelled, err)
			continue
		}
		if want := phonenumbers.GetRegionCodeForNumber(example); n.Region() != want {
			t.Errorf("%s: Region of %s = %q, want %q", region, n, n.Region(), want)
		}
		for _, spelled := range []string{string(n), n.Format()} {
			if again, err := (phone.Parser{}).Parse(spelled); err != nil || again != n {
				t.Errorf("%s: %s re-parses from %q to %q, %v", region, n, spelled, again, err)
			}
		}
		if !phone.KnownRegion(region) {
			t.Errorf("%s is not known", region)
		}
	}
	if examples < 200 {
		t.Errorf("only %d countries had an example", examples)
	}
	for _, region := range []string{"", "in", "XX", "ZZ", "001", "India"} {
		if phone.KnownRegion(region) {
			t.Errorf("%q is known as a country", region)
		}
	}
}

func TestNotANumber(t *testing.T) {
	for _, n := range []phone.Number{"", "+", "+0", "+999123", "919876543210", "+91987654321x", "secret", "+12345678901234567890"} {
		if got := n.Mask(); got != "••••••" {
			t.Errorf("%q: Mask = %q", string(n), got)
		}
		if got := n.Region(); got != "" {
			t.Errorf("%q: Region = %q", string(n), got)
		}
		_ = n.Format() // must not panic
	}
}

func TestLogsMask(t *testing.T) {
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("sent", "to", phone.Number("+919876543210"))
	if strings.Contains(out.String(), "9876543210") || !strings.Contains(out.String(), "+91••••••3210") {
		t.Errorf("logged %s", out.String())
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"+919876543210", "098765 43210", "tel:98765-43210;phone-context=+91", "＋９１９８７６５４３２１０",
		"+1 (201) 555-0123", "+29051234", "+54 9 11 2345-6789", "+52 1 222 123 4567", "+39 312 345 6789",
		"1800FLOWERS", "tel:;phone-context=tel:", ";ext=", "+\x00", "\xff\xfe", "0091", "+++", "98765 43210 x 12",
	} {
		f.Add(s, "IN")
	}
	f.Add("2015550123", "US")
	f.Add("011 15 2345 6789", "AR")
	f.Fuzz(func(t *testing.T, s, region string) {
		n, err := phone.Parser{DefaultRegion: region}.Parse(s)
		if err != nil {
			if err != phone.ErrInvalid || n != "" {
				t.Fatalf("Parse(%q) = %q, %v", s, n, err)
			}
			return
		}
		if again, err := (phone.Parser{}).Parse(string(n)); err != nil || again != n {
			t.Fatalf("%q re-parses to %q, %v", n, again, err)
		}
		if again, err := (phone.Parser{DefaultRegion: region}).Parse(n.Format()); err != nil || again != n {
			t.Fatalf("%q, formatted %q, re-parses to %q, %v", n, n.Format(), again, err)
		}
		head, tail, ok := strings.Cut(n.Mask(), "••••••")
		if !ok || !strings.HasPrefix(string(n), head) || !strings.HasSuffix(string(n), tail) || len(head) > 4 || len(tail) > 4 {
			t.Fatalf("%q masks to %q", n, n.Mask())
		}
		if middle := len(n) - len(head) - len(tail); middle < 6 && tail != "" {
			t.Fatalf("%q masks to %q, which hides %d digits", n, n.Mask(), middle)
		}
		if n.Region() == "" {
			t.Fatalf("%q has no region", n)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for name, s := range map[string]string{"e164": "+919876543210", "national": "098765 43210", "garbage": "not a number at all", "long": strings.Repeat("9", 128)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = india.Parse(s)
			}
		})
	}
}

func BenchmarkRegion(b *testing.B) {
	for _, n := range []phone.Number{"+919876543210", "+12015550123"} {
		b.Run(string(n[:3]), func(b *testing.B) {
			for b.Loop() {
				_ = n.Region()
			}
		})
	}
}
