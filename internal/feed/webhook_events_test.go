package feed_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/feed"
)

// TestWebhookEvents: the document has each event that a webhook sends.
func TestWebhookEvents(t *testing.T) {
	t.Parallel()
	var document struct {
		Webhooks   map[string]any
		Components struct {
			Schemas struct {
				WebhookEventType struct {
					Values []string `json:"x-extensible-enum"`
				}
			}
		}
	}
	data, err := admin.Document()
	if err == nil {
		err = json.Unmarshal(data, &document)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := feed.EventTypes(feed.ChangeTypes)
	if got := document.Components.Schemas.WebhookEventType.Values; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("WebhookEventType has %v, want %v", got, want)
	}
	want = append(want, feed.TestEvent)
	if got := slices.Sorted(maps.Keys(document.Webhooks)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("webhooks has %v, want %v", got, want)
	}
}
