package e2e_test

import (
	"compress/gzip"
	"flag"
	"html"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

var updateQuestions = flag.Bool("update-questions", false, "rewrite testdata/question")

var tag = regexp.MustCompile(`<[^>]*>`)

// TestQuestionPageInEachLanguage compares the page behind a link with the golden file of the language. It is one compressed
// response of at most 14 KB, names its language and direction, and offers the others by their names before it asks.
func TestQuestionPageInEachLanguage(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	s.Coach(t, coachNumber).AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
	link := linkPattern.FindString(s.SMS(guardianNumber, "message", 0).Text)
	for _, code := range language.Offered() {
		page, weight := compressed(t, link, code)
		if weight > 14<<10 {
			t.Errorf("%s: %d bytes", code, weight)
		}
		if !strings.Contains(page, `<html lang="`+code+`" dir="`+language.Of(code).Direction()+`">`) {
			t.Errorf("%s: %.200s", code, page)
		}
		before, rest, _ := strings.Cut(page, "<main")
		for _, other := range language.Offered() {
			if other != code && !strings.Contains(before, ">"+language.Of(other).Name+"</button>") {
				t.Errorf("%s: no choice of %s", code, other)
			}
		}
		main, _, _ := strings.Cut(rest, "</main>")
		_, main, _ = strings.Cut(main, ">")
		text := strings.Join(strings.FieldsFunc(html.UnescapeString(tag.ReplaceAllString(main, "\n")), func(r rune) bool { return r == '\n' }), "\n") + "\n"
		file := "testdata/question/" + code + ".txt"
		if *updateQuestions {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("the page in %s changed; check the diff, then run with -update-questions:\n%s", code, diff)
		}
	}
}

// compressed returns a page and the bytes that a browser gets.
func compressed(t *testing.T, address, code string) (page string, weight int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Language", code)
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain), len(body)
}
