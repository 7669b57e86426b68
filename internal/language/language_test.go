package language_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/server"
)

// builtIn returns the codes of the languages with texts, without English.
func builtIn() (codes []string) {
	for _, l := range language.All() {
		if l.Code != language.English && language.HasTexts(l.Code, new(language.Own)) {
			codes = append(codes, l.Code)
		}
	}
	return codes
}

func textsOf(t *testing.T, code string) language.Texts {
	t.Helper()
	texts, err := server.TextsOf(code)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// lines returns the lines of a file, without empty ones and comments.
func lines(t *testing.T, file string) (all []string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// TestTable: each language of the table has what the code reads, and its fallbacks end in English.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, code := range strings.Fields("en as bn brx doi gu hi kn kok ks mai ml mni mr ne or pa sa sat sd ta te ur") {
		if !language.InTable(code) {
			t.Errorf("the table lacks %s: English and the 22 languages of the Eighth Schedule are there", code)
		}
	}
	for _, l := range language.All() {
		if l.Name == "" || l.InEnglish == "" || len(l.Months) != 12 || len(l.Weekdays) != 7 || !slices.Contains(l.Plurals, "other") || l.Comma == "" {
			t.Errorf("%s lacks a part: %+v", l.Code, l)
		}
		if chain := language.Chain(l.Code); chain[len(chain)-1] != language.English {
			t.Errorf("the fallbacks of %s are %v", l.Code, chain)
		}
		day := time.Date(2026, 5, 12, 0, 0, 0, 0, time.UTC)
		for _, text := range []string{l.Date(day, true), l.Date(day, false)} {
			if !strings.Contains(text, "12") || !strings.Contains(text, l.Months[4]) || strings.ContainsAny(text, "{}") || strings.Contains(text, "2026") != (text == l.Date(day, true)) {
				t.Errorf("%s writes a date as %q", l.Code, text)
			}
		}
	}
}

// TestTexts: each text of each language has the values, forms and elements of the English one, the script of the language and
// space on a page. A family finds all its texts; testdata/missing.txt names the English ones that wait for translation.
func TestTexts(t *testing.T) {
	t.Parallel()
	english := textsOf(t, language.English)
	coaches, operators, missing := lines(t, "testdata/coaches.txt"), lines(t, "testdata/operators.txt"), lines(t, "testdata/missing.txt")
	among := func(prefixes []string, key string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return key == prefix || strings.HasPrefix(key, prefix+".") })
	}
	for _, code := range builtIn() {
		texts := textsOf(t, code)
		if content, err := os.ReadFile("texts/" + code + ".json"); err == nil { // the order of the lines is that of WriteTexts
			var whole language.Texts
			if err := json.Unmarshal(content, &whole); err != nil {
				t.Fatal(err)
			}
			for key := range whole {
				if language.Hash(whole[key]) != language.Hash(texts[key]) {
					t.Errorf("%s: %s is read as %v, want %v", code, key, texts[key], whole[key])
				}
			}
		}
		for _, f := range language.Check(code, code, texts, english) {
			t.Error(f)
		}
		for key := range english {
			stateOfFee := strings.HasPrefix(key, "fees.state.") && !strings.HasSuffix(key, ".short")
			forCoaches := among(coaches, key) && !slices.Contains(coaches, "!"+key) && !stateOfFee
			needed := code == "hi" || !among(operators, key) && (!forCoaches || language.Of(code).Coaches) && !slices.Contains(missing, key)
			if texts[key] == nil && needed {
				t.Errorf("%s: %s is missing", code, key)
			}
		}
	}
	for _, key := range missing {
		if english[key] == nil {
			t.Errorf("testdata/missing.txt has %s, which English has not", key)
		}
	}
}

// TestLock: texts.lock is of the texts as they are, so that no text asks that changed after it was checked.
func TestLock(t *testing.T) {
	t.Parallel()
	english := textsOf(t, language.English)
	all := language.BuiltInMarks()
	for _, code := range builtIn() {
		recorded := map[string]language.Mark{}
		for _, m := range all {
			if m.Language == code {
				recorded[m.Key] = m
			}
		}
		marks := language.MarksOf(code, textsOf(t, code), english, all)
		for _, m := range marks {
			if recorded[m.Key] != m {
				t.Errorf("%s %s changed since it was recorded: run touchline texts record --language=%s --lock=internal/language/texts.lock", code, m.Key, code)
			}
		}
		if len(recorded) != len(marks) {
			t.Errorf("%s: the lock has %d texts, want %d", code, len(recorded), len(marks))
		}
	}
}

// TestOwnTexts: a folder of TEXTS replaces a text and adds a language without a build; each fault names its file and key.
func TestOwnTexts(t *testing.T) {
	english := textsOf(t, language.English)
	folder := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for content, want := range map[string]string{
		`{"question.about": "सवाल {{.Student}} के बारे में है।"}`:                                    "lacks the value {Coach}",
		`{"question.asks": "{{.Coach}} {{.Child}} पूछते हैं:"}`:                                      "has the value {Child}, which English has not",
		`{"question.asks": "<i>{{.Coach}}</i> पूछते हैं:"}`:                                          "must have the elements of English",
		`{"question.asks": "{{.Coach}} \u202eपूछते हैं:"}`:                                           "changes the direction",
		`{"question.asks": "{{.Coach}} asks you:"}`:                                                  `"asks", which is not in the script`,
		`{"code.code.fault": {"other": "कोड के {{.Count}} अंक डालें।"}}`:                             "needs the plural form one",
		`{"code.code.fault": "कोड डालें।"}`:                                                          "must be an object with plural forms",
		`{"code.code.fault": {"one": "कोड डालें।", "other": "{{.Count}} अंक डालें।", "few": "कोड"}}`: "has the plural form few",
		`{"question.unknown": "क"}`:                                       "there is no such text in English",
		`{"question.asks": "` + strings.Repeat("क", 100) + `{{.Coach}}"}`: "at most",
		`{"question.asks": ""}`:                                           "is empty",
		`{"question.asks"`:                                                "is no JSON object",
	} {
		write("hi.json", content)
		_, faults := language.ReadOwn(folder, english)
		if len(faults) == 0 || !strings.Contains(faults[0].Error(), want) || !strings.Contains(faults[0].Error(), "hi.json") {
			t.Errorf("%s: %v, want %q", content, faults, want)
		}
	}
	write("hi.json", `{"question.asks": "{{.Coach}} का सवाल:"}`)
	write("texts.lock", "hi question.asks 01234567 89abcdef read")
	if _, faults := language.ReadOwn(folder, english); len(faults) != 1 || !strings.Contains(faults[0].Error(), "texts.lock: question.asks: read needs the initials") {
		t.Errorf("a lock without the reader: %v", faults)
	}
	write("texts.lock", "")
	write("xx.json", `{}`)
	if _, faults := language.ReadOwn(folder, english); len(faults) != 1 || faults[0].Text != "the table has no language xx" {
		t.Errorf("an unknown language: %v", faults)
	}
	if err := os.Remove(filepath.Join(folder, "xx.json")); err != nil {
		t.Fatal(err)
	}
	own, faults := language.ReadOwn(folder, english)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	language.Use(language.Setting{Own: own})
	defer language.Use(language.Setting{})
	if text := textsOf(t, "hi").Text("question.asks"); text != "{{.Coach}} का सवाल:" {
		t.Errorf("the text of TEXTS is %q", text)
	}
	if state := language.StateOf("hi"); state != language.Written {
		t.Errorf("with one text of the operator Hindi is %s", state)
	}
}

// TestFurtherLanguage adds Konkani by files: it is offered when each text of a question was compared, and without that its
// question is asked in its fallback.
func TestFurtherLanguage(t *testing.T) {
	english, folder := textsOf(t, language.English), t.TempDir()
	hindi := textsOf(t, "hi")
	marks := language.MarksOf("kok", hindi, english, nil)
	write := func(state language.State) {
		var lock strings.Builder
		for _, m := range marks {
			m.State = state
			lock.WriteString(m.String() + "\n")
		}
		var file strings.Builder
		if err := language.WriteTexts(&file, hindi); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{"kok.json": file.String(), "texts.lock": lock.String()} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer language.Use(language.Setting{})
	for state, asked := range map[language.State]string{language.Draft: "hi", language.Compared: "kok"} {
		write(state)
		own, faults := language.ReadOwn(folder, english)
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		language.Use(language.Setting{Own: own})
		if got := language.IsOffered("kok"); got != (state == language.Compared) {
			t.Errorf("a language that is %s: offered %t", state, got)
		}
		language.Use(language.Setting{Offered: []string{"en", "hi", "kok"}, Own: own})
		if got := language.Asked("kok"); got != asked || language.Effective("kok") != "kok" {
			t.Errorf("a language that is %s asks in %s, want %s", state, got, asked)
		}
	}
	language.Use(language.Setting{Offered: []string{"en"}})
	for name, serve := range map[string]func(string) string{
		"pages": language.Effective, "questions": language.Asked, "calls": language.Spoken, "coaches": language.ForCoaches,
		"operators": language.ForOperators, "WhatsApp": language.OnWhatsApp, "a browser": language.Match,
	} {
		for _, removed := range []string{"kok", "ta", "unknown"} {
			if got := serve(removed); got != "en" {
				t.Errorf("%s: %s, which is no longer offered, falls back to %s", name, removed, got)
			}
		}
	}
}

// TestExchange: what a translator gets and returns is the same in each format.
func TestExchange(t *testing.T) {
	t.Parallel()
	english, hindi := textsOf(t, language.English), textsOf(t, "hi")
	units := language.Units("hi", hindi, english, language.Marks())
	for _, format := range language.Formats {
		var file strings.Builder
		if err := language.WriteUnits(&file, format, "hi", units); err != nil {
			t.Fatal(err)
		}
		read, err := language.ReadUnits(strings.NewReader(file.String()), format)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		texts := language.FromUnits(read)
		for key := range hindi {
			if language.Hash(texts[key]) != language.Hash(hindi[key]) {
				t.Errorf("%s: %s is %v, want %v", format, key, texts[key], hindi[key])
			}
		}
	}
}

// TestSome: single texts are those of the whole files, also the first and the last of a file.
func TestSome(t *testing.T) {
	t.Parallel()
	tamil := textsOf(t, "ta")
	for _, key := range []string{slices.Min(slices.Collect(maps.Keys(tamil))), "question.asks", "span.day", slices.Max(slices.Collect(maps.Keys(tamil)))} {
		found, err := language.Some("ta", []string{key})
		if err != nil || found.Text(key) != tamil.Text(key) {
			t.Errorf("%s is %q, %v, want %q", key, found.Text(key), err, tamil.Text(key))
		}
	}
}
