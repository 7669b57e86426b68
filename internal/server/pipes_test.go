package server_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/touchline/touchline/internal/server"
)

// pipeListener accepts the connections of a channel.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	if conn, ok := <-l; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (pipeListener) Close() error   { return nil }
func (pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

type addressedConn struct {
	net.Conn
	address net.Addr
}

func (c addressedConn) RemoteAddr() net.Addr { return c.address }

// serveOverPipes serves h, and returns how a client of an address connects to it. A test calls it in synctest.Test: a timeout of the server ends
// there only while all goroutines wait, however busy the machine is.
func serveOverPipes(t *testing.T, h http.Handler, limit int, trusted []netip.Prefix, encrypted *tls.Config) (dial func(from string) net.Conn) {
	t.Helper()
	l, served := make(pipeListener), make(chan error, 1)
	go func() { served <- server.ServeConnections(l, h, limit, trusted, encrypted) }()
	var clients []net.Conn
	t.Cleanup(func() {
		for _, client := range clients {
			_ = client.Close()
		}
		close(l)
		<-served
	})
	return func(from string) net.Conn {
		client, accepted := net.Pipe()
		clients = append(clients, client)
		l <- addressedConn{accepted, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 1))}
		return client
	}
}

// encrypted returns settings of TLS with HTTP/2, without session tickets: over a pipe the server would wait until the client reads one.
func encrypted(t *testing.T) *tls.Config {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates, NextProtos: []string{"h2"}, SessionTicketsDisabled: true}
}
