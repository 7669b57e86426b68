package team

import (
	"cmp"
	"encoding/hex"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// collators has collators of names. One serves one goroutine at a time.
var collators = sync.Pool{New: func() any { return collate.New(language.Und, collate.Loose) }}

// SortKey returns a key that orders names alphabetically, as the root collation of Unicode does: word by word, without
// regard to case, accents, apostrophes and characters that show nothing. The languages of the service sort the letters
// of each script as it does. The key is in hexadecimal digits, which every collation of PostgreSQL and SQLite orders
// alike. The database has keys: if they change with the tables of x/text, a migration has to write them again.
func SortKey(name string) string {
	c := collators.Get().(*collate.Collator)
	defer collators.Put(c)
	var buf collate.Buffer
	return hex.EncodeToString(c.KeyFromString(&buf, plainName(name)))
}

// plainName returns a name without apostrophes and characters that show nothing, with single spaces.
func plainName(name string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || strings.ContainsRune("'‘’‛ʹʻʼʽˈ`´′ꞌ＇", r) {
			return -1
		}
		return r
	}, name)), " ")
}

// CompareNames orders names by SortKey, and equal ones by id.
func CompareNames(name, id, otherName, otherID string) int {
	return cmp.Or(strings.Compare(SortKey(name), SortKey(otherName)), strings.Compare(id, otherID))
}

// FirstLetter returns the letter under which a list has a name: "E" for "Élodie". It returns "" for a name that begins
// with none.
func FirstLetter(name string) string {
	r, _ := utf8.DecodeRuneInString(norm.NFD.String(plainName(name)))
	if !unicode.IsLetter(r) {
		return ""
	}
	return string(unicode.ToUpper(r))
}
