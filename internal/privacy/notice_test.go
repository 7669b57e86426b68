package privacy_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// folder returns a folder with the notice in English.
func folder(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "en.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	notices, err := privacy.ReadNotices(folder(t, "# Title \r\n\nOne\ntwo.\n\n- a\n- b\n  c\n\n- d\n## More\nThree {brand}.\n"), privacy.Words{Brand: "Kite"})
	if err != nil || len(notices) != 1 {
		t.Fatal(notices, err)
	}
	want := []privacy.Block{
		{Heading: 1, Text: "Title"},
		{Text: "One two."},
		{Items: []string{"a", "b c"}},
		{Items: []string{"d"}},
		{Heading: 2, Text: "More"},
		{Text: "Three Kite."},
	}
	if diff := cmp.Diff(want, notices[0].Blocks()); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []string{"", " \n", "\xff", "a\x00", strings.Repeat("a", 65<<10)} {
		if _, err := privacy.ReadNotices(folder(t, wrong), privacy.Words{}); err == nil {
			t.Errorf("%.9q was read", wrong)
		}
	}
	if _, err := privacy.ReadNotices(t.TempDir(), privacy.Words{}); err == nil {
		t.Error("a folder without en.md was read")
	}
}

// TestBuiltInNotice: the built-in notices have the same parts in each language, and no name is left in braces.
func TestBuiltInNotice(t *testing.T) {
	t.Parallel()
	for _, contact := range []string{"", "hello@kite.example"} {
		kept := privacy.Retention{Deleted: 30 * 24 * time.Hour, Notifications: 24 * time.Hour, Deliveries: 36 * time.Hour}
		notices, err := privacy.ReadNotices("", privacy.Words{Brand: "Kite", Contact: contact, Authority: "india", Kept: kept})
		if err != nil || len(notices) != len(language.Offered()) {
			t.Fatal(notices, err)
		}
		shapes := map[string][]int{}
		for _, n := range notices {
			if strings.ContainsAny(n.Text, "{}") || !strings.Contains(n.Text, "Kite") || !strings.Contains(n.Text, contact) {
				t.Errorf("%s: %s", n.Language, n.Text)
			}
			for _, times := range map[string][]string{
				"en": {"off the list: 30 days\n", "answers: until you ask us to erase it\n", "app: 1 day\n", "sent: 2 days\n", "wrote them: as long as the rest about the child\n"},
				"hi": {"बातें: 30 दिन\n", "बातें: जब तक आप मिटाने को न कहें\n", "सूचनाएँ: 1 दिन\n", "सूची: 2 दिन\n", "बाद: जब तक बच्चे की बाकी बातें रखी हैं\n"},
			}[n.Language] {
				if !strings.Contains(n.Text, times) {
					t.Errorf("%s does not say %q", n.Language, times)
				}
			}
			for _, b := range n.Blocks() {
				shapes[n.Language] = append(shapes[n.Language], 100*b.Heading+len(b.Items))
			}
		}
		for code, shape := range shapes {
			if !slices.Equal(shape, shapes[language.English]) {
				t.Errorf("%s has other parts than English: %v, want %v", code, shape, shapes[language.English])
			}
		}
	}
}

func TestNotice(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		read := func(t *testing.T, s *touchlinetest.Service, query string, header ...string) *touchlinetest.Response {
			t.Helper()
			return s.Call(t, "GET", "/api/notice"+query, "", nil, header...).Want(t, 200)
		}
		first := read(t, s, "")
		sum := sha256.Sum256([]byte(first.String("text")))
		if first.JSON["version"] != 1.0 || first.String("hash") != hex.EncodeToString(sum[:]) || first.String("language") != "en" {
			t.Fatal(first.JSON)
		}
		for _, hindi := range []*touchlinetest.Response{read(t, s, "?language=hi"), read(t, s, "", "Accept-Language: hi-IN,en;q=0.5")} {
			if hindi.String("language") != "hi" || hindi.Header.Get("Content-Language") != "hi" || !strings.Contains(hindi.String("text"), "ज़िम्मेदार") {
				t.Error(hindi.JSON)
			}
		}
		for _, query := range []string{"?language=fr", "?version=0", "?version=x", "?version=-1", "?page=1"} {
			s.Call(t, "GET", "/api/notice"+query, "", nil).Want(t, 422)
		}
		s.Call(t, "GET", "/api/notice?version=2", "", nil).Want(t, 404)
		s.Call(t, "GET", "/notice?version=2", "", nil, "Accept: text/html").Want(t, 404)

		// The settings are part of the text.
		if text := first.String("text"); !strings.Contains(text, "off the list: 30 days\n") || !strings.Contains(text, "sent: 90 days\n") {
			t.Error(text)
		}
		longer := s.Replica(func(c *config.Config) { c.RetainDeleted = 365 * 24 * time.Hour })
		if n := read(t, longer, ""); n.JSON["version"] != 2.0 || !strings.Contains(n.String("text"), "off the list: 365 days\n") {
			t.Error(n.JSON)
		}

		// A replica with another text has the next version; both serve both.
		dir := folder(t, "# Ours <b>\n\nOur words.")
		later := s.Replica(func(c *config.Config) { c.Notice = dir })
		ours := read(t, later, "")
		if ours.JSON["version"] != 3.0 || ours.String("text") != "# Ours <b>\n\nOur words.\n" {
			t.Fatal(ours.JSON)
		}
		if inHindi := read(t, later, "?language=hi"); inHindi.String("language") != "en" || inHindi.JSON["version"] != 3.0 {
			t.Errorf("a language without a file: %v", inHindi.JSON)
		}
		for _, replica := range []*touchlinetest.Service{s, later} {
			if got := read(t, replica, "?version=1"); got.String("hash") != first.String("hash") {
				t.Error(got.JSON)
			}
			if got := read(t, replica, "?version=3"); got.String("hash") != ours.String("hash") {
				t.Error(got.JSON)
			}
			page := replica.Call(t, "GET", "/notice?version=3", "", nil, "Accept: text/html").Want(t, 200)
			if !strings.Contains(string(page.Body), "<h1>Ours &lt;b&gt;</h1>") || !strings.Contains(string(page.Body), "Version 3, since") {
				t.Errorf("%s", page.Body)
			}
		}
		if page := later.Call(t, "GET", "/notice?version=1", "", nil, "Accept: text/html").Want(t, 200); !strings.Contains(string(page.Body), "This is an older version.") {
			t.Errorf("%s", page.Body)
		}
		// The first text again is the first version.
		if again := read(t, s.Replica(), ""); again.JSON["version"] != 1.0 {
			t.Error(again.JSON)
		}
	})
}

// TestNoticeRace: replicas that start at the same time store one version of each text.
func TestNoticeRace(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		dirs := []string{folder(t, "# A"), folder(t, "# B")}
		versions := make([]any, 4)
		var wait sync.WaitGroup
		for i := range versions {
			wait.Go(func() {
				replica := s.Replica(func(c *config.Config) { c.Notice = dirs[i%2] })
				versions[i] = replica.Call(t, "GET", "/api/notice", "", nil).Want(t, 200).JSON["version"]
			})
		}
		wait.Wait()
		if versions[0] != versions[2] || versions[1] != versions[3] || versions[0] == versions[1] || versions[0].(float64)+versions[1].(float64) != 5 {
			t.Errorf("versions: %v", versions)
		}
	})
}
