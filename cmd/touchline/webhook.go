package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/webhook"
)

// webhookCommand returns the commands for developers of webhook endpoints.
func webhookCommand(environ []string) *cobra.Command {
	c := group("webhook", "commands for developers of endpoints: send changes and samples to one", `Send webhooks to an endpoint on this machine. Nothing is saved: the service knows no webhook for it, and no message is
sent again.`)
	c.PersistentFlags().Bool("json", false, "print JSON: an object on each line")
	c.PersistentFlags().String("forward-to", "", "URL of the endpoint, such as http://localhost:4000/hooks")
	c.PersistentFlags().String("secret", "", "secret that signs the messages (whsec_…); by default one that is made once for this user, and printed")
	c.AddCommand(listenCommand(environ), triggerCommand())
	return c
}

func listenCommand(environ []string) *cobra.Command {
	c := &cobra.Command{
		Use: "listen --forward-to <URL>", Short: "follow the feed of changes and forward each one to an endpoint", Args: cobra.NoArgs,
		Long: `Follow the feed of changes, forward each new change to an endpoint as a signed webhook, and print what it answers.
With --since it forwards earlier changes first: all since a time or a duration ago, or the whole feed with --since all.
Each change is sent once. Stop with Ctrl+C.

The command reads the database of the settings of "touchline serve", which may be running. With --service it reads
the feed of a service instead, with a token of the scope availability.`,
	}
	c.Flags().String("since", "", "forward earlier changes first: a duration (1h), a time (2026-03-02T09:00:00Z) or all")
	c.Flags().String("service", "", "address of the operators' listener of a service, in place of a database")
	c.Flags().String("token-file", "", "file with a token of the scope availability, for --service")
	open := openOperators(withSettings(c, environ))
	c.RunE = func(c *cobra.Command, _ []string) error {
		f, err := newForwarder(c)
		if err != nil {
			return failed(err)
		}
		from, err := listenFrom(c.Flag("since").Value.String(), time.Now())
		if err != nil {
			return failed(err)
		}
		if address := c.Flag("service").Value.String(); address != "" {
			token, err := os.ReadFile(c.Flag("token-file").Value.String())
			if err != nil {
				return failed(errUsage("--service needs a readable --token-file: %v", err))
			}
			return failed(f.listen(c.Context(), &feed.ServiceSource{URL: address, Token: strings.TrimSpace(string(token)), Client: &http.Client{Timeout: time.Minute}}, from))
		}
		operators, err := open(c.Context())
		if err != nil {
			return err
		}
		return failed(errors.Join(f.listen(c.Context(), &feed.DatabaseSource{Feed: operators.Feed()}, from), operators.Close()))
	}
	return c
}

func triggerCommand() *cobra.Command {
	events := feed.SampleEvents()
	return &cobra.Command{
		Use: "trigger <event> --forward-to <URL>", Short: "send a sample of an event to an endpoint", Args: cobra.ExactArgs(1), ValidArgs: events,
		Long: `Send a signed sample of an event to an endpoint and print what it answers. The player of the sample does not exist.
The exit status is 3 if the endpoint does not accept the message.

Events: ` + strings.Join(events, ", "),
		RunE: func(c *cobra.Command, args []string) error {
			m, ok := feed.Sample(args[0], uuid.Must(uuid.NewV7()).String(), time.Now().UTC().Truncate(time.Microsecond))
			if !ok {
				return failed(errUsage("there is no event %q; there are %s", args[0], strings.Join(events, ", ")))
			}
			f, err := newForwarder(c)
			if err != nil {
				return failed(err)
			}
			accepted, err := f.forward(c.Context(), m)
			if err == nil && !accepted {
				err = checkError{errors.New("the endpoint did not accept the message")}
			}
			return failed(err)
		},
	}
}

// listenFrom returns the time from which listen forwards changes, or the zero time for all. It is far ahead if
// listen forwards only those that are new.
func listenFrom(since string, now time.Time) (time.Time, error) {
	switch since {
	case "":
		return now.AddDate(100, 0, 0), nil
	case "all":
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(since); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	at, err := time.Parse(time.RFC3339, since)
	if err != nil {
		return at, errUsage("--since must be a duration such as 1h, a time such as 2026-03-02T09:00:00Z, or all")
	}
	return at, nil
}

// forwarder sends messages to the endpoint of a developer.
type forwarder struct {
	*cobra.Command
	sender *webhook.Sender
	target feed.WebhookTarget
}

// ownSecret returns the secret of this user, so that an endpoint keeps its settings from one run to the next. The first run makes it. Without a
// folder for settings each run makes one.
func ownSecret() (string, error) {
	fresh, err := feed.NewWebhookSecret(rand.Reader)
	folder, noFolder := os.UserConfigDir()
	if err != nil || noFolder != nil {
		return fresh, err
	}
	path := filepath.Join(folder, "touchline", "webhook-secret")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fresh, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(fresh + "\n")
		return fresh, errors.Join(err, f.Close())
	}
	kept, err := os.ReadFile(path)
	if secret := strings.TrimSpace(string(kept)); err == nil && webhook.ValidSecret(secret) {
		return secret, nil
	} else if err == nil {
		return "", errUsage("%s has no secret (whsec_ and base64): delete it", path)
	}
	return fresh, nil
}

// newForwarder reads the flags of c. If there is no secret, it takes that of the user and prints it.
func newForwarder(c *cobra.Command) (*forwarder, error) {
	address, secret := c.Flag("forward-to").Value.String(), c.Flag("secret").Value.String()
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errUsage("--forward-to must be an http or https URL such as http://localhost:4000/hooks")
	}
	if secret == "" {
		var err error
		if secret, err = ownSecret(); err != nil {
			return nil, err
		}
		c.PrintErrf("The messages are signed with this secret: %s\n", secret)
	} else if !webhook.ValidSecret(secret) {
		return nil, errUsage("--secret must be whsec_ and base64")
	}
	everywhere := webhook.Networks{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")} // the developer chose the address
	return &forwarder{Command: c, sender: webhook.NewSender(everywhere, time.Now), target: feed.WebhookTarget{URL: address, Secrets: []string{secret}}}, nil
}

// unavailablePause is the wait before listen reads a feed that is not available again.
const unavailablePause = 2 * time.Second

// listen forwards changes until ctx ends: those since a time, and all that come after the first end of the feed.
func (f *forwarder) listen(ctx context.Context, source feed.Source, from time.Time) error {
	following, failing := false, false
	for {
		changes, end, err := source.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case fault.KindOf(err) == fault.Unavailable:
			if !failing {
				f.PrintErrf("%v; trying again\n", err)
			}
			failing = true
			select {
			case <-ctx.Done():
			case <-time.After(unavailablePause):
			}
			continue
		case err != nil:
			return err
		}
		failing = false
		for _, change := range changes {
			if !following && change.At.Before(from) {
				continue
			}
			if _, err := f.forward(ctx, feed.MessageOf(change)); ctx.Err() != nil || err != nil {
				return err
			}
		}
		if end && !following {
			following = true
			f.PrintErrf("Waiting for changes. Stop with Ctrl+C.\n")
		}
	}
}

// forwarded is the JSON of a forwarded message.
type forwarded struct {
	MessageID    string  `json:"message_id"`
	EventType    string  `json:"event_type"`
	PlayerID     *string `json:"player_id"`
	At           string  `json:"at"`
	Status       *int    `json:"status"`
	Error        *string `json:"error"`
	Response     string  `json:"response"`
	Milliseconds int64   `json:"milliseconds"`
}

// forward sends a message, prints the result, and reports whether the endpoint accepted it.
func (f *forwarder) forward(ctx context.Context, m feed.WebhookMessage) (accepted bool, err error) {
	body, err := m.Payload()
	if err != nil {
		return false, err
	}
	r, err := f.sender.Send(ctx, webhook.Message{ID: m.ID, URL: f.target.URL, Body: body, Secrets: f.target.Secrets})
	if err != nil {
		return false, err
	}
	result := forwarded{MessageID: m.ID, EventType: m.EventType(), At: m.At.UTC().Format(time.RFC3339Nano), Response: r.Body, Milliseconds: r.Took.Milliseconds()}
	if !m.Test {
		result.PlayerID = &m.PlayerID
	}
	outcome := r.Error
	if r.Error != "" {
		result.Error = &r.Error
	} else {
		result.Status = &r.Status
		outcome = fmt.Sprint(r.Status)
	}
	accepted = feed.WebhookAttempt(r).Accepted()
	return accepted, printResult(f.Command, result, func(w io.Writer) error {
		line := fmt.Sprintf("%-20s  %s  %s in %d ms", m.EventType(), m.ID, outcome, r.Took.Milliseconds())
		if !accepted && r.Body != "" {
			line += ": " + oneLine(r.Body)
		}
		_, err := fmt.Fprintln(w, line)
		return err
	})
}
