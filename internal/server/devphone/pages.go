package devphone

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// pages serves the phones as pages.
type pages struct {
	*Phones
	site *web.Pages
}

const path = "/dev/phones"

// Pages returns the pages of the phones.
func (s *Phones) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	return []web.Route{
		{Method: "GET", Pattern: path, Handle: local(p.show)},
		{Method: "POST", Pattern: path, Handle: local(p.reply)},
		{Method: "POST", Pattern: path + "/press", Handle: local(p.press)},
		{Method: "GET", Pattern: identityPath, Handle: local(p.identity)},
		{Method: "GET", Pattern: path + "/events", Handle: local(p.events), Stream: true},
	}
}

// local returns a handler that answers programs on this machine only.
func local(h web.Handler) web.Handler {
	return func(ctx context.Context, r *web.Request) (web.Response, error) {
		if err := checkLocal(r.Request); err != nil {
			return web.Response{}, err
		}
		return h(ctx, r)
	}
}

// Part is a part of a text: a link or what is between links.
type Part struct {
	Text string
	Link bool
}

var links = regexp.MustCompile(`https?://[^\s<>"]*[^\s<>".,;:!?)]`)

// Parts returns the text with its links.
func (m Message) Parts() []Part {
	var parts []Part
	end := 0
	for _, at := range links.FindAllStringIndex(m.Text, -1) {
		parts = append(parts, Part{Text: m.Text[end:at[0]]}, Part{Text: m.Text[at[0]:at[1]], Link: true})
		end = at[1]
	}
	return append(parts, Part{Text: m.Text[end:]})
}

const (
	// shownPhones is how many phones the page of all phones shows with their newest messages. It
	// lists the others.
	shownPhones = 12
	// shownMessages is how many messages of each it shows.
	shownMessages = 4
)

// show serves GET /dev/phones: all phones, or with number one phone and a field to reply.
func (p pages) show(_ context.Context, r *web.Request) (web.Response, error) {
	return p.page(r, r.Value("number"), new(web.Form)), nil
}

func (p pages) page(r *web.Request, chosen string, f *web.Form) web.Response {
	v := p.site.NewView(r, "phones.title")
	v.Form, v.Stream, v.Path = f, path+"/events", path
	phones := p.List()
	data := map[string]any{"Path": path, "Phones": phones, "Others": []Phone(nil), "Chosen": false, "Number": phone.Number(""), "Channels": []message.Channel(nil)}
	if n, err := p.site.Phones.Parse(chosen); err == nil {
		one := Phone{Number: n, Messages: p.Messages(n)}
		data["Phones"], data["Chosen"], data["Number"], data["Channels"] = []Phone{one}, true, n, one.channels(p.HasChat)
		if text := r.URL.Query().Get("text"); text != "" && f.Values == nil { // from the page that asks for a code
			f.Values = url.Values{"text": {text}}
			data["Channels"] = []message.Channel{message.Chat}
		}
		v.Path += "?number=" + url.QueryEscape(string(n))
	} else {
		for i := range phones {
			phones[i].Messages = phones[i].Messages[:min(len(phones[i].Messages), shownMessages)]
		}
		shown := min(len(phones), shownPhones)
		data["Phones"], data["Others"] = phones[:shown], phones[shown:]
	}
	v.Data = data
	return web.Page("dev_phones", v)
}

// channels returns the channels on which the phone can reply, the channel of the newest message first.
func (p Phone) channels(hasChat bool) []message.Channel {
	var channels []message.Channel
	for _, m := range p.Messages {
		if m.Channel != message.Voice && !slices.Contains(channels, m.Channel) {
			channels = append(channels, m.Channel)
		}
	}
	if len(channels) == 0 {
		channels = []message.Channel{message.SMS}
	}
	if hasChat && !slices.Contains(channels, message.Chat) {
		channels = append(channels, message.Chat)
	}
	return channels
}

// reply serves POST /dev/phones: a phone sends a text to the service.
func (p pages) reply(ctx context.Context, r *web.Request) (web.Response, error) {
	return p.act(r, func(n phone.Number) error {
		channel := message.Channel(r.Value("channel"))
		if channel != message.Chat {
			channel = message.SMS
		}
		text := strings.TrimSpace(r.Form.Get("text"))
		if text == "" {
			return nil
		}
		return p.Send(ctx, n, channel, text)
	})
}

// press serves POST /dev/phones/press: a button of a message.
func (p pages) press(ctx context.Context, r *web.Request) (web.Response, error) {
	return p.act(r, func(n phone.Number) error { return p.Press(ctx, n, r.Value("message"), r.Value("button")) })
}

// act does what a form of a phone says, and returns to its page, or to the page of all phones with all=yes.
func (p pages) act(r *web.Request, do func(phone.Number) error) (web.Response, error) {
	n, err := p.site.Phones.Parse(r.Value("number"))
	if err != nil {
		return web.Redirect(path), nil
	}
	if err := do(n); err != nil {
		return web.Response{}, err
	}
	if r.Value("all") == "yes" {
		return web.Redirect(path), nil
	}
	return web.Redirect(path + "?number=" + url.QueryEscape(string(n))), nil
}

// streamEnd ends a stream; the browser opens it again.
const streamEnd = 5 * time.Minute

// events serves GET /dev/phones/events: an event without data when a phone has something new.
func (p pages) events(context.Context, *web.Request) (web.Response, error) {
	open, err := p.Hub.Subscribe(hubKey)
	if err != nil {
		return web.Response{}, err
	}
	return web.Response{
		Header: httpx.StreamHeader(),
		Write: func(w http.ResponseWriter, r *http.Request) error {
			defer open.Close()
			if r.Method == http.MethodHead {
				return nil
			}
			control := http.NewResponseController(w)
			end := time.Now().Add(streamEnd)
			_ = control.SetReadDeadline(end.Add(time.Minute))
			_ = control.SetWriteDeadline(end.Add(time.Minute))
			timer := time.NewTimer(streamEnd)
			defer timer.Stop()
			beat := time.NewTicker(httpx.StreamHeartbeat)
			defer beat.Stop()
			// A message may have arrived between the page and the stream.
			for text := "retry: 1000\ndata: changed\n\n"; ; {
				if _, err := fmt.Fprint(w, text); err != nil || control.Flush() != nil {
					return nil
				}
				select {
				case <-r.Context().Done():
					return nil
				case <-open.Done():
					return nil
				case <-timer.C:
					return nil
				case <-beat.C:
					text = httpx.StreamComment
				case <-open.Woken():
					text = "data: changed\n\n"
				}
			}
		},
	}, nil
}
