package api

import (
	"context"

	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/wire"
)

const pushPath = "/api/me/push-subscriptions"

// pushSubscriptionRequest is PushSubscription.toJSON of the Push API, with show_names.
type pushSubscriptionRequest struct {
	Endpoint       string            `json:"endpoint" rule:"required,min=1,max=2000"`
	ExpirationTime wire.Opt[float64] `json:"expirationTime"`
	Keys           pushKeys          `json:"keys" rule:"required"`
	ShowNames      bool              `json:"show_names"`
}

type pushKeys struct {
	P256DH string `json:"p256dh" rule:"required,min=1,max=128"`
	Auth   string `json:"auth" rule:"required,min=1,max=64"`
}

// pushSubscriptionResponse does not repeat the endpoint, which is a secret.
type pushSubscriptionResponse struct {
	ShowNames bool   `json:"show_names"`
	CreatedAt string `json:"created_at"`
}

func newPushSubscriptionResponse(s notify.PushSubscription) pushSubscriptionResponse {
	return pushSubscriptionResponse{s.ShowNames, wire.Timestamp(s.CreatedAt)}
}

type pushResponse struct {
	PublicKey    string                    `json:"public_key"`
	Subscription *pushSubscriptionResponse `json:"subscription"`
}

// pushSubscription serves GET /api/me/push-subscriptions.
func (s *Server) pushSubscription(ctx context.Context, r Request[noBody]) (Response, error) {
	subscription, found, err := s.Push.Store.SessionPushSubscription(ctx, r.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	response := pushResponse{PublicKey: s.Push.Key}
	if found {
		response.Subscription = new(newPushSubscriptionResponse(subscription))
	}
	return endpoint.OK(response), nil
}

// subscribePush serves POST /api/me/push-subscriptions.
func (s *Server) subscribePush(ctx context.Context, r Request[pushSubscriptionRequest]) (Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return Response{}, err
	}
	saved, err := s.Push.Subscribe(ctx, r.Caller.Actor, notify.PushSubscription{
		Endpoint: in.Endpoint, P256DH: in.Keys.P256DH, Auth: in.Keys.Auth, ShowNames: in.ShowNames,
	})
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created(pushPath, newPushSubscriptionResponse(saved)), nil
}

// rebuildPush returns the response of subscribePush again.
func (s *Server) rebuildPush(ctx context.Context, m meta, _ idempotency.Work) (Response, error) {
	saved, _, err := s.Push.Store.SessionPushSubscription(ctx, m.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created(pushPath, newPushSubscriptionResponse(saved)), nil
}

// unsubscribePush serves DELETE /api/me/push-subscriptions.
func (s *Server) unsubscribePush(ctx context.Context, r Request[noBody]) (Response, error) {
	if err := s.Push.Store.DeletePushSubscription(ctx, r.Caller.Actor); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}
