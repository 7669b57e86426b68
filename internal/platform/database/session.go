package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// sessionParams are the run-time parameters of a session on PostgreSQL. They free the
// locks of a replica that is frozen or cut off, so that other replicas wait only seconds
// for them. A value in the URL wins.
var sessionParams = map[string]string{
	// A replica sends the next statement of a transaction at once.
	"idle_in_transaction_session_timeout": "3s",
	// After this error Write runs the transaction again.
	"lock_timeout": "1s",
	// As long as readTimeout and writeTimeout: after it the caller has its error.
	"statement_timeout": "10s",
	// Single statements run at the level of beginWrite, too.
	"default_transaction_isolation": "read committed",
	// A lost peer is detected after 25 s without traffic, after 10 s with data to send.
	"tcp_keepalives_idle":     "10",
	"tcp_keepalives_interval": "5",
	"tcp_keepalives_count":    "3",
	"tcp_user_timeout":        "10s",
}

// migrationParams are the run-time parameters of a session that migrates, also if the URL
// sets others. A migration may take long, but not wait long for the lock of a table: every
// later statement on the table waits behind it. If a backup reads the table for an hour, the
// migration waits in short steps, between which the other replicas serve.
var migrationParams = map[string]string{"lock_timeout": "200ms", "statement_timeout": "0"}

// keepAlive and defaultUserTimeout detect a lost server as quickly as the server detects a
// lost client: keepAlive without traffic, defaultUserTimeout with data to send.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}

const defaultUserTimeout = 10 * time.Second

// dialer returns the dialer for connections of config. A tcp_user_timeout in the URL, in
// milliseconds unless it has a unit, holds for both sides of the connection.
func dialer(config *pgx.ConnConfig) *net.Dialer {
	timeout := defaultUserTimeout
	if set, named := config.RuntimeParams["tcp_user_timeout"]; named {
		if n, err := strconv.Atoi(set); err == nil {
			timeout = time.Duration(n) * time.Millisecond
		} else if d, err := time.ParseDuration(set); err == nil {
			timeout = d
		}
	}
	return &net.Dialer{KeepAliveConfig: keepAlive, Control: func(network, _ string, c syscall.RawConn) error {
		if !strings.HasPrefix(network, "tcp") {
			return nil
		}
		return setUserTimeout(c, timeout)
	}}
}

// withParams returns a copy of config with params, unless the URL sets them.
func withParams(config *pgx.ConnConfig, params map[string]string) *pgx.ConnConfig {
	own := config.RuntimeParams
	c := config.Copy()
	for name, value := range params {
		if _, named := own[name]; !named && !strings.Contains(own["options"], name) {
			c.RuntimeParams[name] = value
		}
	}
	return c
}

// connector opens connections to PostgreSQL. PgBouncer refuses a startup packet with a
// parameter that it does not know, so then the connector omits sessionParams.
type connector struct {
	driver.Connector // with sessionParams
	plain            driver.Connector
	pooler           *atomic.Bool // the server refused sessionParams
}

// newConnector returns a connector with the configuration of a URL, without and with
// sessionParams.
func newConnector(plain, params *pgx.ConnConfig) driver.Connector {
	return &connector{stdlib.GetConnector(*params), stdlib.GetConnector(*plain), new(atomic.Bool)}
}

// Connect opens a connection.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.pooler.Load() {
		return c.plain.Connect(ctx)
	}
	conn, err := c.Connector.Connect(ctx)
	if refused(err) {
		c.pooler.Store(true)
		return c.plain.Connect(ctx)
	}
	return conn, err
}

// refused reports whether a pooler refused a parameter of sessionParams.
func refused(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "08P01" && slices.ContainsFunc(slices.Collect(maps.Keys(sessionParams)),
		func(name string) bool { return strings.Contains(e.Message, name) })
}
