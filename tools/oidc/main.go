// Command oidc is an OpenID provider for tests: the example server of zitadel/oidc, whose two users have birth dates.
//
// It prints its address and then reads the callbacks of the client, one a line. The client is "web" with the secret "secret". The users are test-user@localhost, an adult,
// and test-user2, who is 17. The password of both is "verysecure".
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// births gives the users birth dates.
type births struct{ *storage.Storage }

func (b births) add(u *oidc.UserInfo) {
	u.Birthdate = "1985-03-02"
	if u.Subject == "id2" {
		u.Birthdate = time.Now().AddDate(-17, 0, 0).Format(time.DateOnly)
	}
}

// SetUserinfoFromRequest implements op.CanSetUserinfoFromRequest.
func (b births) SetUserinfoFromRequest(ctx context.Context, u *oidc.UserInfo, token op.IDTokenRequest, scopes []string) error {
	defer b.add(u)
	return b.Storage.SetUserinfoFromRequest(ctx, u, token, scopes)
}

// SetUserinfoFromToken implements op.Storage.
func (b births) SetUserinfoFromToken(ctx context.Context, u *oidc.UserInfo, tokenID, subject, origin string) error {
	defer b.add(u)
	return b.Storage.SetUserinfoFromToken(ctx, u, tokenID, subject, origin)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	issuer := fmt.Sprintf("http://localhost:%d/", listener.Addr().(*net.TCPAddr).Port)
	server := exampleop.SetupServer(issuer, births{storage.NewStorage(storage.NewUserStore(issuer))}, slog.New(slog.NewTextHandler(io.Discard, nil)), false)
	fmt.Println(issuer)
	go func() {
		var callbacks []string
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			callbacks = append(callbacks, lines.Text())
			storage.RegisterClients(storage.WebClient("web", "secret", callbacks...))
		}
	}()
	return (&http.Server{Handler: server, ReadHeaderTimeout: time.Minute}).Serve(listener)
}
