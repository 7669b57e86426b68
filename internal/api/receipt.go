package api

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
)

// The calls of providers are checked as far as their address goes before a body is read.

func (s *Server) authenticateReceipt(r *http.Request) (Caller, error) {
	if s.Receipts == nil {
		return Caller{}, fault.Missing()
	}
	return Caller{}, s.Receipts.Check(r.PathValue("message"), r.PathValue("secret"))
}

func (s *Server) authenticateReceipts(r *http.Request) (Caller, error) {
	if s.Receipts == nil {
		return Caller{}, fault.Missing()
	}
	return Caller{}, s.Receipts.CheckProvider(r.PathValue("provider"))
}

func (s *Server) authenticateCall(r *http.Request) (Caller, error) {
	if s.Calls == nil {
		return Caller{}, fault.Missing()
	}
	return Caller{}, s.Calls.Check(r.PathValue("message"), r.PathValue("secret"))
}

func (s *Server) authenticateReply(r *http.Request) (Caller, error) {
	return Caller{}, s.Replies.CheckProvider(r.PathValue("provider"))
}

func (s *Server) authenticateBounce(r *http.Request) (Caller, error) {
	return Caller{}, s.Bounces.Check(r.PathValue("secret"))
}

// receiveReceipt serves GET and POST /receipts/{message}/{secret}, which providers of SMS
// call.
func (s *Server) receiveReceipt(ctx context.Context, r Request[url.Values]) (Response, error) {
	if err := s.Receipts.Receive(ctx, r.PathPart("message"), r.PathPart("secret"), s.providerCall(r)); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}

// takeCallStep serves POST /calls/{message}/{secret}, which providers of calls call with each step of a call.
func (s *Server) takeCallStep(ctx context.Context, r Request[url.Values]) (Response, error) {
	mediaType, body, err := s.Calls.Receive(ctx, r.PathPart("message"), r.PathPart("secret"), s.providerCall(r))
	if err != nil {
		return Response{}, err
	}
	return Response{Raw: body}.WithHeader("Content-Type", mediaType), nil
}

// maxReceipts is the size of the largest call of Meta, in bytes:
// https://developers.facebook.com/docs/whatsapp/cloud-api/guides/set-up-webhooks
const maxReceipts = 3 << 20

// receiveReceipts serves POST /receipts/{provider}, which a provider calls with receipts of any
// messages.
func (s *Server) receiveReceipts(ctx context.Context, r Request[url.Values]) (Response, error) {
	provider := r.PathPart("provider")
	err := s.Receipts.ReceiveAll(ctx, provider, s.providerCall(r))
	if provider == message.ChatProvider {
		// Reports that were not stored keep no reply back. ChatReplies has none without a signature.
		err = cmp.Or(s.Replies.ApplyAll(ctx, s.ChatReplies(s.providerCall(r))), err)
	}
	if err != nil {
		return Response{}, err
	}
	if provider == message.ChatProvider {
		return Response{Raw: []byte{}}.WithHeader("Content-Type", "text/plain"), nil // Meta repeats a call without 200
	}
	return endpoint.NoContent(), nil
}

// verifyReceipts serves GET /receipts/{provider}, with which Meta verifies the address.
func (s *Server) verifyReceipts(_ context.Context, r Request[url.Values]) (Response, error) {
	challenge, ok := s.Challenge(s.providerCall(r))
	if r.PathPart("provider") != message.ChatProvider || !ok {
		return Response{}, fault.Missing()
	}
	return Response{Raw: []byte(challenge)}.WithHeader("Content-Type", "text/plain"), nil
}

// receiveReply serves POST /replies/{provider} and GET /replies/{provider}/{secret}, which
// providers of SMS call with the reply of a person. The response has nothing that the provider
// would send to the person.
func (s *Server) receiveReply(ctx context.Context, r Request[url.Values]) (Response, error) {
	if err := s.Replies.Receive(ctx, r.PathPart("provider"), r.PathPart("secret"), s.providerCall(r)); err != nil {
		return Response{}, err
	}
	if r.Method == http.MethodPost {
		return Response{Raw: []byte("<Response/>")}.WithHeader("Content-Type", "text/xml"), nil
	}
	return Response{Raw: []byte{}}.WithHeader("Content-Type", "text/plain"), nil
}

// providerCall returns the request of a provider. Its URL is the address that the provider was
// given: a proxy may have changed it on the way.
func (s *Server) providerCall(r Request[url.Values]) message.ProviderCall {
	return message.ProviderCall{URL: s.PublicURL + r.RequestURI(), Query: r.Query, Form: r.Body, Body: r.Raw, Header: r.Header.Get}
}

// receiveBounce serves POST /bounces/{secret}, which a mail server or provider calls.
func (s *Server) receiveBounce(ctx context.Context, r Request[url.Values]) (Response, error) {
	if err := s.Bounces.Receive(ctx, r.PathPart("secret"), r.Header.Get("Content-Type"), r.Raw); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}
