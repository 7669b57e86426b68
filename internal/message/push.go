package message

import (
	"slices"
	"time"
)

// PushText is the notification that a browser shows. Package push encrypts it.
type PushText struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	// Language is the language of both texts.
	Language string `json:"lang"`
	// URL is the page that opens.
	URL string `json:"url"`
	// Tag is the same in every attempt: the browser shows the message once.
	Tag string `json:"tag"`
}

// maxPushBody is the longest body in characters. A push message has at most 4 KiB.
const maxPushBody = 400

// PushOf renders a notification for the screen of a device. Only if showNames is true, it has
// the text of the notification, which may name children: anyone can read a locked screen. Titles
// name no person.
func PushOf(m Message, showNames bool) PushText {
	words := textsIn(m.Language)
	body := words.fill("push.locked", map[string]string{"brand": m.Brand})
	if showNames {
		body = m.Copy.Text
		if runes := []rune(body); len(runes) > maxPushBody {
			body = string(runes[:maxPushBody-1]) + "…"
		}
	}
	return PushText{Title: m.Copy.Title, Body: body, Language: words.language, URL: m.Link, Tag: m.ID}
}

// PushUrgent reports whether a device shows a notification at once, also in battery-saving
// mode: a person waits for it.
func PushUrgent(t Type) bool {
	return slices.Contains(urgentTypes, t) || t == GuardianRequest || t == StudentRequest
}

// pushKinds are the kinds of notifications for which a person chooses channels, if not
// NotificationCopy.
var pushKinds = map[Type]Kind{
	GuardianRequest: Request, StudentRequest: Request, RequestReminder: Reminder, TeamMessageType: Team, TeamReplyType: Team,
}

// Pushed reports whether a person wants a notification by push. Nothing switches off those
// about security.
func (p Preferences) Pushed(t Type) bool {
	kind, ok := pushKinds[t]
	if !ok {
		kind = NotificationCopy
	}
	chosen, isSet := p.Channels[kind]
	return !isSet || t == SecurityNotice || slices.Contains(chosen, Push)
}

// PushKind is how a device receives push messages.
type PushKind string

const (
	// PushWeb is Web Push, for browsers.
	PushWeb PushKind = "web"
	// PushFCM is Firebase Cloud Messaging, for apps.
	PushFCM PushKind = "fcm"
)

// PushSubscription is how the device of one session receives push messages. That of a browser
// has the values of PushSubscription.toJSON of the Push API; an app's subscription has a Token alone.
type PushSubscription struct {
	ID string
	// Endpoint is the URL of the browser's push service. With it anyone can send messages.
	Endpoint string
	// P256DH is the public key of the browser and Auth its secret, in base64url (RFC 8291).
	P256DH, Auth string
	// Token is the registration token of an app at FCM. With it any account of the app's
	// project can send messages.
	Token string
	// ShowNames allows names and the text of notifications on a locked screen.
	ShowNames bool
	CreatedAt time.Time
}

// Kind returns how the device receives messages.
func (s PushSubscription) Kind() PushKind {
	if s.Token != "" {
		return PushFCM
	}
	return PushWeb
}
