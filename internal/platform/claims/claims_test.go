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
		"Meera Nair √", "Meera Nair ∛", "Meera ⎷", "Meera 🮱", "Meera 𐄂", "Meera ꪜ", "Meera ꪛ", "Meera ☑️", "Meera レ", "Meera ﾚ", "√ Meera", "Meera√",
		"Meera Nair, ID checked", "Meera I.D. checked", "Meera, Identity  confirmed", "Meera identity proved", "Meera ID proven", "Meera ID-approved",
		"Meera background checked", "Meera verifed", "Meera Ver1fied", "Meera authenticated", "ldentity CHECKED Meera",
		"Meera Nair सत्यापित", "Meera Nair पहचान जाँची गई", "Meera पहचान जांची गई", "Meera पहचान पक्की", "Meera पहचान की जाँच हुई", "मीरा नायर प्रमाणित", "मीरा वेरिफाइड", "मीरा वेरीफ़ाइड", "मीरा वेरिफ़ाईड", "मीरा अधिकृत",
		"मीरा पहचान सत्यापित", "Meera satyapit", "Meera pehchan jaanchi gayi", "Meera pahchaan janchi gai", "Meera pramanit",
		"Meera அடையாளம் சரிபார்க்கப்பட்டது", "Meera ओळख तपासली आहे", "Meera ਪਛਾਣ ਦੀ ਜਾਂਚ ਹੋਈ", "Meera ઓળખ તપાસેલી છે", "Meera ആൾ ആരെന്ന് ഉറപ്പാക്കി", "Meera ಗುರುತು ಪರಿಶೀಲಿಸಲಾಗಿದೆ", "Meera پہچان جانچی گئی",
		"Meera পরিচয় যাচাই করা হয়েছে", "Meera পৰিচয় যাচাই কৰা হৈছে", "Meera ପରିଚୟ ଯାଞ୍ଚ ହୋଇଛି", "Meera గుర్తింపు సరిచూశారు",
	} {
		if !more.Person(name) || !more.Group(name) {
			t.Errorf("%q: person %t, group %t, want both refused", name, more.Person(name), more.Group(name))
		}
	}
	for _, name := range []string{"Support", "S u p p o r t", "Supp0rt", "Touch Support", "Delhi Police", "Police", "Bank Manager", "Axis Bank", "Government of India", "Income Tax", "पुलिस", "बैंक", "Admin", "Official Coach", "Operator Meera", "आधिकारिक कोच", "एडमिन"} {
		if !more.Person(name) || !more.Group(name) {
			t.Errorf("%q: person %t, group %t, want both refused", name, more.Person(name), more.Group(name))
		}
	}
	for _, name := range []string{
		"Meera Nair", "Asha Rao", "Gordon Banks", "Tony Policella", "A. P. J. Abdul Kalam", "S. B. Iyer", "Line Meyer", "Touch Rugby", "Otto Paul", "Sarkari Lal", "Will Smith", "Anne-Marie O'Brien",
		"मीरा नायर", "José Núñez", "Ravi 2", "Courtney Walsh", "Ministrel", "Amazing Grace", "Appu", "Whatley", "Delhi Public School", "Kotak", "Rishi Bankim", "Supporta", "Pehchan Sports", "पहचान खेल क्लब", "Certified Coach", "Navid Checkov", "Ida Chekhov", "Satya Patil", "Vera Fied-Lal", "Approved Ayub", "जाँची देवी", "レオ",
	} {
		if more.Person(name) || more.Group(name) {
			t.Errorf("%q: person %t, group %t, want neither refused", name, more.Person(name), more.Group(name))
		}
	}
	for _, name := range []string{"Meera Nair certified by operator", "Meera approved by coaches", "Meera checked by us", "Meera - confirmed by the club"} {
		if !more.Person(name) {
			t.Errorf("person %q is taken", name)
		}
	}
	for _, name := range []string{"Background check", "ID check", "Kit approved by the league", "Police Ground U12", "Bank Colony", "Government School U14", "Police Lines boys", "Court Road", "U14 police"} {
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
