package claims_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/claims"
)

func TestPersonsAndGroups(t *testing.T) {
	t.Parallel()
	more, err := claims.Parse("# of this club\nHari Sweets\n\nNeighbourhood Watch\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"Touchline", "Touchline Support", "touch line", "T o u c h l i n e", "T.o.u.c.h.l.i.n.e", "Touch1ine", "T0uchline", "Touchl1ne", "TouchIine", "ТоuсhІіnе", "Τουchline",
		"Ｔｏｕｃｈｌｉｎｅ", "𝐓𝐨𝐮𝐜𝐡𝐥𝐢𝐧𝐞", "Ⓣⓞⓤⓒⓗⓛⓘⓝⓔ", "My Touchline coach", "Touch-line", "Touch\u200bline", "Tóuchliné",
		"WhatsApp", "W h a t s A p p", "Whats App", "WhаtsАрр", "ＷｈａｔｓＡｐｐ", "Wh4ts4pp", "vvhatsapp", "WhatsAppp", "Whatsap", "🅆🄷🄰🅃🅂🄰🄿🄿", "व्हाट्सएप",
		"Hari Sweets", "HARI  SWEETS", "Hari-Sweets", "Neighbourhood Watch", "ne1ghbourhood watch",
		"State Bank of India", "SBI", "S.B.I.", "HDFC", "Google", "Customer Care", "Help Desk", "Helpdesk", "Meera ✓", "Meera Nair ✅ identity checked", "Verified Coach", "Paytm", "OTP",
	} {
		if !more.Person(name) || !more.Group(name) {
			t.Errorf("%q: person %t, group %t, want both refused", name, more.Person(name), more.Group(name))
		}
	}
	for _, name := range []string{"Support", "S u p p o r t", "Supp0rt", "Touch Support", "Delhi Police", "Police", "Bank Manager", "Axis Bank", "Government of India", "Income Tax", "पुलिस", "बैंक", "Admin", "Official Coach"} {
		if !more.Person(name) || !more.Group(name) {
			t.Errorf("%q: person %t, group %t, want both refused", name, more.Person(name), more.Group(name))
		}
	}
	for _, name := range []string{
		"Meera Nair", "Asha Rao", "Gordon Banks", "Tony Policella", "A. P. J. Abdul Kalam", "S. B. Iyer", "Line Meyer", "Touch Rugby", "Otto Paul", "Sarkari Lal", "Will Smith", "Anne-Marie O'Brien",
		"मीरा नायर", "José Núñez", "Ravi 2", "Courtney Walsh", "Ministrel", "Amazing Grace", "Appu", "Whatley", "Delhi Public School", "Kotak", "Rishi Bankim", "Supporta",
	} {
		if more.Person(name) || more.Group(name) {
			t.Errorf("%q: person %t, group %t, want neither refused", name, more.Person(name), more.Group(name))
		}
	}
	for _, name := range []string{"Police Ground U12", "Bank Colony", "Government School U14", "Police Lines boys", "Court Road", "U14 police"} {
		if more.Group(name) {
			t.Errorf("batch %q is refused", name)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"x", "ok name\n\xff", strings.Repeat("a", 101), strings.Repeat("ab\n", 10_001)} {
		if _, err := claims.Parse(file); err == nil {
			t.Errorf("%.20q is taken", file)
		}
	}
	if _, err := claims.Parse(""); err != nil {
		t.Error(err)
	}
}
