package sms

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Checked is what Check found at a provider that responds.
type Checked struct {
	// Account reports whether the provider accepted user and password. If false, Check only connected, because the
	// provider has no call that would check them and send nothing.
	Account bool
	// Date is the time of the provider, exact to a second, or zero.
	Date time.Time
}

// Check asks a provider whether it accepts an account, and sends nothing. Its errors contain no credential.
func Check(ctx context.Context, a Account) (Checked, error) {
	client, u, err := newClient(a.URL, sendTimeout)
	if err != nil {
		return Checked{}, err
	}
	switch a.Kind {
	case kannel:
		return checkKannel(ctx, client, a)
	case twilio:
		return checkTwilio(ctx, client, u.JoinPath("2010-04-01", "Accounts", a.User+".json").String(), a)
	default:
		return Checked{}, connect(ctx, u)
	}
}

// checkKannel posts a message without a recipient. Kannel compares the password first: it responds 403 to a wrong one, and 400
// to the missing recipient.
func checkKannel(ctx context.Context, client *client, a Account) (Checked, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, http.NoBody)
	if err != nil {
		return Checked{}, errInvalidAddress
	}
	req.Header.Set("Content-Type", "text/plain; charset=UTF-8")
	req.Header.Set("X-Kannel-Username", a.User)
	req.Header.Set("X-Kannel-Password", a.Password)
	res, err := client.do(ctx, req)
	if err != nil {
		return Checked{}, err
	}
	switch {
	case res.status == http.StatusBadRequest && bytes.Contains(res.body, []byte("receiver")):
		return Checked{Account: true, Date: res.date()}, nil
	case res.status == http.StatusForbidden:
		return Checked{}, fmt.Errorf("gateway %s refused the user or the password", client.host)
	}
	return Checked{}, fmt.Errorf("gateway %s responded %d, as no sendsms of Kannel does", client.host, res.status)
}

// checkTwilio reads the account.
func checkTwilio(ctx context.Context, client *client, address string, a Account) (Checked, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return Checked{}, errInvalidAddress
	}
	req.SetBasicAuth(a.User, a.Password)
	res, err := client.do(ctx, req)
	if err != nil {
		return Checked{}, err
	}
	var account struct {
		Status string `json:"status"`
	}
	switch {
	case res.status == http.StatusUnauthorized:
		return Checked{}, fmt.Errorf("gateway %s refused the account SID or the auth token", client.host)
	case res.status != http.StatusOK || json.Unmarshal(res.body, &account) != nil:
		return Checked{}, fmt.Errorf("gateway %s responded %d to a read of the account", client.host, res.status)
	case account.Status != "active":
		return Checked{}, fmt.Errorf("gateway %s says that the account is not active", client.host)
	}
	return Checked{Account: true, Date: res.date()}, nil
}

var errInvalidAddress = errors.New("the address of the gateway is invalid")

// connect opens a connection to a gateway, with TLS if its URL has https, and closes it.
func connect(ctx context.Context, u *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	address, dial := net.JoinHostPort(u.Hostname(), "80"), new(net.Dialer).DialContext
	if u.Scheme == "https" {
		address, dial = net.JoinHostPort(u.Hostname(), "443"), new(tls.Dialer).DialContext
	}
	if u.Port() != "" {
		address = u.Host
	}
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return errors.New("gateway " + u.Host + " " + describe(err))
	}
	return conn.Close()
}

// date returns the time in the header Date, or zero.
func (r response) date() time.Time {
	date, err := http.ParseTime(r.header.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return date
}
