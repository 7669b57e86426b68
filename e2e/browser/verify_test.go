package browser_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestVerifyPage: the page /verify checks a receipt in the browser, in both languages, and refuses one that was changed, one with
// another key, and a file that is no receipt.
func TestVerifyPage(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	player := s.Coach(t, coachNumber).AddPlayer(t, named("Asha Rao", guardianNumber, studentNumber)).String("player_id")
	guardian := s.SignIn(t, "guardian", guardianNumber)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "approved"}).Want(t, 200)
	id := guardian.Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).Items()[0]["record_id"].(string)
	receipt := guardian.Call(t, "GET", "/api/me/receipts/"+id, nil).Want(t, 200).Body
	folder := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p := newPhone(t, s.URL)
	check := func(path, want string) {
		t.Helper()
		p.open("/verify")
		p.chooseFile("#receipt", path)
		p.do(chromedp.Evaluate(`document.querySelector("#verify button").click()`, nil))
		p.waitForText(want)
	}
	check(file("receipt.tlog-proof", receipt), "This receipt is genuine")
	p.wantText("Somebody at this number pressed yes")
	p.wantText(guardianNumber)
	p.wantText("Asha Rao")
	p.wantText("It does not prove who that person is")
	for _, at := range []int{100, len(receipt) - 120, len(receipt) - 20} {
		changed := bytes.Clone(receipt)
		changed[at] ^= 1
		check(file("changed.tlog-proof", changed), "This receipt proves nothing")
	}
	check(file("text", []byte("hello")), "The file is not a receipt")
	p.open("/verify")
	p.chooseFile("#receipt", filepath.Join(folder, "receipt.tlog-proof"))
	p.do(chromedp.Evaluate(`document.querySelector("#key").value = "other.example/log+551a0123+AV3WXmLmB6tAsUkZLtI0sL8P/IGX4mgQFCLC1xw3L9FN"`, nil))
	p.do(chromedp.Evaluate(`document.querySelector("#verify button").click()`, nil))
	p.waitForText("It belongs to another log.")
}
