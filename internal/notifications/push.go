package notifications

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
)

const pushPath = "/api/me/push-subscriptions"

// pushSubscriptionRequest is PushSubscription.toJSON of the Push API, or the registration token
// of an app, with show_names.
type pushSubscriptionRequest struct {
	Kind           string            `json:"kind" rule:"oneof=web|fcm"`
	Endpoint       *string           `json:"endpoint" rule:"min=1,max=2000"`
	ExpirationTime wire.Opt[float64] `json:"expirationTime"`
	Keys           *pushKeys         `json:"keys"`
	Token          *string           `json:"token" rule:"min=1,max=4096"`
	ShowNames      bool              `json:"show_names"`
}

// read returns the subscription. It adds a fault for each field that a subscription of its kind
// lacks, or that belongs to another kind.
func (in pushSubscriptionRequest) read(f *wire.Faults) message.PushSubscription {
	out := message.PushSubscription{ShowNames: in.ShowNames}
	isApp := in.Kind == string(message.PushFCM)
	for _, field := range []struct {
		pointer      string
		present, app bool
	}{{"/endpoint", in.Endpoint != nil, false}, {"/keys", in.Keys != nil, false}, {"/token", in.Token != nil, true}} {
		switch {
		case f.Has("/kind"):
		case field.app == isApp && !field.present:
			f.Add(field.pointer, "required", "This is needed.")
		case field.app != isApp && field.present:
			f.Add(field.pointer, "invalid_value", "A subscription of this kind has no such field.")
		}
	}
	if in.Endpoint != nil {
		out.Endpoint = *in.Endpoint
	}
	if in.Keys != nil {
		out.P256DH, out.Auth = in.Keys.P256DH, in.Keys.Auth
	}
	if in.Token != nil {
		out.Token = *in.Token
	}
	return out
}

type pushKeys struct {
	P256DH string `json:"p256dh" rule:"required,min=1,max=128"`
	Auth   string `json:"auth" rule:"required,min=1,max=64"`
}

// pushSubscriptionResponse does not repeat the endpoint or token, which is a secret.
type pushSubscriptionResponse struct {
	Kind      string `json:"kind"`
	ShowNames bool   `json:"show_names"`
	CreatedAt string `json:"created_at"`
}

func newPushSubscriptionResponse(s message.PushSubscription) pushSubscriptionResponse {
	return pushSubscriptionResponse{string(s.Kind()), s.ShowNames, wire.Timestamp(s.CreatedAt)}
}

type pushResponse struct {
	PublicKey    string                    `json:"public_key"`
	Kinds        []message.PushKind        `json:"kinds"`
	Subscription *pushSubscriptionResponse `json:"subscription"`
}

// pushSubscription serves GET /api/me/push-subscriptions.
func (h handlers) pushSubscription(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	subscription, found, err := h.Push.OfSession(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	response := pushResponse{PublicKey: h.Push.Key, Kinds: h.Push.Kinds()}
	if found {
		response.Subscription = new(newPushSubscriptionResponse(subscription))
	}
	return endpoint.OK(response), nil
}

// subscribePush serves POST /api/me/push-subscriptions.
func (h handlers) subscribePush(ctx context.Context, r api.Request[pushSubscriptionRequest]) (api.Response, error) {
	faults := r.Faults
	subscription := r.Body.read(&faults)
	if err := faults.Err(); err != nil {
		return api.Response{}, err
	}
	saved, err := h.Push.Subscribe(ctx, r.Caller.Actor, subscription)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created(pushPath, newPushSubscriptionResponse(saved)), nil
}

// rebuildPush returns the response of subscribePush again.
func (h handlers) rebuildPush(ctx context.Context, m api.Meta, _ idempotency.Work) (api.Response, error) {
	saved, _, err := h.Push.OfSession(ctx, m.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created(pushPath, newPushSubscriptionResponse(saved)), nil
}

// unsubscribePush serves DELETE /api/me/push-subscriptions.
func (h handlers) unsubscribePush(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	if err := h.Push.Delete(ctx, r.Caller.Actor); err != nil {
		return api.Response{}, err
	}
	return endpoint.NoContent(), nil
}
