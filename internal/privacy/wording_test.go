package privacy_test

import (
	"crypto/sha256"
	"encoding/hex"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

const (
	coachNumber    = "+919812300001"
	guardianNumber = "+919812300011"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// lastAnswer returns the newest decision about a player.
func lastAnswer(t *testing.T, u *touchlinetest.User, player string) map[string]any {
	t.Helper()
	history := u.Call(t, "GET", "/api/players/approval-status/"+player, nil).Want(t, 200).JSON["history"].([]any)
	return history[len(history)-1].(map[string]any)
}

var markup = regexp.MustCompile(`<[^>]*>`)

// wordsOf returns the words of the main part of a page.
func wordsOf(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	return strings.Join(strings.Fields(html.UnescapeString(markup.ReplaceAllString(page, " "))), " ")
}

// between returns the part of text from the first to the last words.
func between(t *testing.T, text, first, last string) string {
	t.Helper()
	_, after, found := strings.Cut(text, first)
	part, _, closed := strings.Cut(after, last)
	if !found || !closed {
		t.Fatalf("%q has no %q and %q", text, first, last)
	}
	return first + part + last
}

// TestWordingOfAPI: an answer by the API keeps the hashes of the notification that asked and of the notice. The
// other party does not see them.
func TestWordingOfAPI(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "+919812300021")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		asked := guardian.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items()[0]
		notice := s.Call(t, "GET", "/api/notice?language=en", "", nil).Want(t, 200).String("hash")
		for _, action := range []string{"approved", "revoked"} {
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": action}).Want(t, 200)
			got := lastAnswer(t, coach, id)
			if got["notice_hash"] != notice || got["text_hash"] != hashOf(asked["title"].(string)+"\n"+asked["body"].(string)) {
				t.Errorf("%s: %v", action, got)
			}
		}
		if got := lastAnswer(t, s.SignIn(t, "student", "+919812300021"), id); got["notice_hash"] != nil || got["text_hash"] != nil {
			t.Errorf("the student sees %v", got)
		}
	})
}

// TestWordingOfPage: an answer on a page keeps the hash of the words of the page and of the notice in its
// language. The history leads to that notice.
func TestWordingOfPage(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		at := "/me/guardian/players/" + id
		b := s.Browser(t)
		b.Open("/sign-in/guardian")
		b.Press("Send me a code", "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, 0))
		want := func(language, text string) {
			t.Helper()
			notice := s.Call(t, "GET", "/api/notice?language="+language, "", nil).Want(t, 200).String("hash")
			if got := lastAnswer(t, coach, id); got["notice_hash"] != notice || got["text_hash"] != hashOf(text) {
				t.Errorf("got %v, want the hash of %q", got, text)
			}
			if page := b.Open(at); !strings.Contains(page.Body, `href="/notice?hash=`+notice+`"`) {
				t.Error("the history does not lead to the notice")
			}
			if page := b.Open("/notice?hash=" + notice); page.Status != 200 || !strings.Contains(page.Body, "Version 1") && !strings.Contains(page.Body, "रूप 1") {
				t.Errorf("%d: %s", page.Status, page.Body)
			}
		}
		question := wordsOf(b.Open(at + "/answer").Body)
		b.Press("Yes, for Asha Rao")
		b.Press("Say yes")
		want("en", between(t, question, "Meera Nair asks you:", "about Asha Rao?")+" "+between(t, question, "What works already", `press “Take my yes back”.`))

		b.Language = "hi"
		b.Open(at)
		b.Press("बदलें: मेरी हाँ वापस लें")
		check := between(t, wordsOf(b.Page.Body), "आप Asha Rao के लिए", "कोच को बताया जाएगा।")
		b.Press("मेरी हाँ वापस लें")
		want("hi", check)
		if page := b.Open("/notice?hash=" + strings.Repeat("0", 64)); page.Status != 404 {
			t.Errorf("an unknown hash: %d", page.Status)
		}
	})
}
