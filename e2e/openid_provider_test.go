package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/programtest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// startOpenIDProvider starts tools/oidc, an OpenID provider of another project, and returns its address. It reads the callbacks of its client from a pipe.
func startOpenIDProvider(t *testing.T, program string) (issuer string, callback io.Writer) {
	t.Helper()
	provider := exec.Command(program)
	provider.Stderr = os.Stderr
	out, err := provider.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := provider.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := provider.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = provider.Process.Kill()
		_ = provider.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the provider did not start: %v", err)
	}
	return strings.TrimSpace(line), in
}

// TestOpenIDProvider: an adult proves it at a real OpenID provider in another process, and a minor does not. Its ID token has the birth date
// alone, so the service asks its userinfo endpoint for the name.
func TestOpenIDProvider(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("go", "-C", "../tools/oidc", "mod", "download").CombinedOutput(); err != nil {
		programtest.OpenIDProvider.Skip(t, string(out))
	}
	program := filepath.Join(t.TempDir(), "oidc")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = "../tools/oidc"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build tools/oidc: %v\n%s", err, out)
	}
	issuer, callback := startOpenIDProvider(t, program)
	folder := t.TempDir()
	for name, text := range map[string]string{
		"secret": "secret\n",
		"providers.json": fmt.Sprintf(`{"providers": [{"name": "other", "label": "Other ID", "issuer": "%s", "client_id": "web", "client_secret_file": "%s"}]}`,
			issuer, filepath.Join(folder, "secret")),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		if _, err := fmt.Fprintln(callback, s.URL+"/proof/callback"); err != nil {
			t.Fatal(err)
		}
		coach := s.Coach(t, coachNumber)
		for number, user := range map[string]struct{ name, text string }{
			guardianNumber:  {"test-user@localhost", "You have proved that you are an adult"},
			"+919812300078": {"test-user2", "under 18"},
		} {
			player := touchlinetest.Minor(number, "")
			player["student"].(map[string]any)["full_name"] = "Asha " + strings.Map(func(r rune) rune { return 'A' + r%26 }, number)
			id := coach.AddPlayer(t, player).String("player_id")
			b := signInPages(t, s, "guardian", number)
			b.Open("/me/guardian/players/" + id + "/answer")
			if page := b.Press("Prove it with Other ID"); page.Status != 200 {
				t.Fatalf("the provider: %d %s", page.Status, page.Body)
			}
			page := b.Press("Login", "username", user.name, "password", "verysecure")
			wantText(t, user.name, page, []string{user.text}, nil)
			if strings.HasPrefix(user.name, "test-user@") {
				b.Press("Yes, for " + player["student"].(map[string]any)["full_name"].(string))
				if page := b.Press("Say yes"); !strings.HasSuffix(page.Path, "/done") {
					t.Errorf("the yes ended at %s: %s", page.Path, page.Text())
				}
				receipt := s.SignIn(t, "guardian", number).Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).Items()[0]
				if proved, _ := receipt["proof"].(object); proved["provider"] != "other" || proved["name_fit"] != "other" {
					t.Errorf("receipt %v", receipt)
				}
			}
		}
	}, func(c *config.Config) {
		c.GuardianProof, c.IdentityProviders = "required", filepath.Join(folder, "providers.json")
		c.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	})
}
