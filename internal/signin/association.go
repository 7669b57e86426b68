package signin

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// assetLink lets an Android app use the passkeys of the domain (Digital Asset Links).
type assetLink struct {
	Relation []string        `json:"relation"`
	Target   assetLinkTarget `json:"target"`
}

type assetLinkTarget struct {
	Namespace    string   `json:"namespace"`
	Package      string   `json:"package_name"`
	Fingerprints []string `json:"sha256_cert_fingerprints"`
}

// assetLinks serves GET /.well-known/assetlinks.json.
func (p passkeyPages) assetLinks(context.Context, *web.Request) (web.Response, error) {
	var links []assetLink
	for _, app := range p.Apps {
		if len(app.Certificate) > 0 {
			links = append(links, assetLink{[]string{"delegate_permission/common.get_login_creds"}, assetLinkTarget{"android_app", app.ID, []string{app.Fingerprint}}})
		}
	}
	return association(len(links) > 0, links)
}

// appleApps serves GET /.well-known/apple-app-site-association.
func (p passkeyPages) appleApps(context.Context, *web.Request) (web.Response, error) {
	var apps []string
	for _, app := range p.Apps {
		if len(app.Certificate) == 0 {
			apps = append(apps, app.ID)
		}
	}
	return association(len(apps) > 0, map[string]any{"webcredentials": map[string]any{"apps": apps}})
}

func association(found bool, content any) (web.Response, error) {
	if !found {
		return web.Response{}, fault.Missing()
	}
	return web.Response{Header: http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"public, max-age=3600"}}, Write: func(w http.ResponseWriter, _ *http.Request) error {
		return json.NewEncoder(w).Encode(content)
	}}, nil
}
