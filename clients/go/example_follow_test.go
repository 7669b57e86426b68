package touchline_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	touchline "github.com/touchline/touchline/clients/go"
)

// TestFollowExample: the example prints the changes of a player, and after a restart the new one. The page before may come twice.
func TestFollowExample(t *testing.T) {
	s := startService(t)
	program := filepath.Join(t.TempDir(), "follow")
	if out, err := exec.Command("go", "build", "-o", program, "./examples/follow").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	signIn := func(number, role string) *touchline.Client {
		c := touchline.New(touchline.Options{BaseURL: s.url})
		if err := c.Session.RequestOTP(t.Context(), number, role, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Session.SignIn(t.Context(), number, role, s.Code(number)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	coach := signIn("98123 73001", "coach")
	call[object](t, coach, "POST", "/auth/complete-profile", object{"name": "Asha Rao", "bio": "I coach.", "experience_years": 1, "sports": []string{"hockey"}})
	player, _ := call[object](t, coach, "POST", "/api/players/add", object{
		"student":  object{"full_name": "Kabir Mehta", "date_of_birth": "2014-04-30"},
		"guardian": object{"name": "Meera Mehta", "relationship": "mother", "mobile_number": "98123 73002"},
	})["player_id"].(string)

	token, cursor := s.Token("availability"), filepath.Join(t.TempDir(), "cursor.txt")
	// follow runs the example until it has printed a line that ends in want.
	follow := func(want string) (lines []string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, cursor)
		cmd.Env = append(os.Environ(), "OPERATORS_URL="+s.operators, "TOKEN="+token)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines = append(lines, scanner.Text())
			if strings.HasSuffix(scanner.Text(), want) {
				break
			}
		}
		waitForFile(t, cursor)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return lines
	}
	if lines := follow("2 pending pending pending"); len(lines) != 2 || !strings.HasPrefix(lines[0], player) {
		t.Fatalf("got %q", lines)
	}
	guardian := signIn("98123 73002", "guardian")
	call[object](t, guardian, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"})
	if lines := follow("3 approved approved pending"); len(lines) > 2 || strings.Contains(lines[0], " 1 pending ") {
		t.Errorf("got %q after a restart", lines)
	}
}
