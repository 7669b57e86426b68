package whatsapptest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// template is an approved template.
type template struct {
	code      bool
	body      string
	variables []string
	urls      []string
	answers   int // quick replies, before the links
}

// request is a request to create a template.
type request struct {
	Name       string `json:"name"`
	Language   string `json:"language"`
	Category   string `json:"category"`
	Format     string `json:"parameter_format"`
	TTL        int    `json:"message_send_ttl_seconds"`
	Components []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Secure  bool   `json:"add_security_recommendation"`
		Example struct {
			Named []struct {
				Name    string `json:"param_name"`
				Example string `json:"example"`
			} `json:"body_text_named_params"`
		} `json:"example"`
		Buttons []button `json:"buttons"`
	} `json:"components"`
}

type button struct {
	Type    string   `json:"type"`
	OTPType string   `json:"otp_type"`
	Text    string   `json:"text"`
	URL     string   `json:"url"`
	Example []string `json:"example"`
}

var (
	templateName = regexp.MustCompile(`^[a-z0-9_]{1,512}$`)
	variable     = regexp.MustCompile(`\{\{([a-z_]+)\}\}`)
)

// Create creates and approves a template, given as the JSON of a request. The test fails if the
// documentation does not allow it.
func (c *Cloud) Create(tb testing.TB, body []byte) {
	tb.Helper()
	var r request
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	var t template
	if err == nil {
		t, err = r.template()
	}
	if err != nil {
		tb.Errorf("WhatsApp does not accept the template %s: %v", body, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.templates[r.Name+"."+r.Language] = t
}

func (r request) template() (t template, err error) {
	if !templateName.MatchString(r.Name) || r.Language == "" || len(r.Components) == 0 || len(r.Components) > 2 || r.Components[0].Type != "body" || len(r.Components) == 2 && r.Components[1].Type != "buttons" {
		return t, fmt.Errorf("its name, language or components")
	}
	body := r.Components[0]
	var buttons []button
	if len(r.Components) == 2 {
		buttons = r.Components[1].Buttons
	}
	if r.Category == "authentication" {
		if body.Text != "" || len(buttons) != 1 || buttons[0].Type != "otp" || buttons[0].OTPType != "copy_code" || r.TTL < 30 || r.TTL > 900 {
			return t, fmt.Errorf("its components")
		}
		return template{code: true, variables: []string{""}, urls: []string{""}}, nil
	}
	t.body = body.Text
	for _, m := range variable.FindAllStringSubmatch(body.Text, -1) {
		t.variables = append(t.variables, m[1])
	}
	var examples []string
	for _, e := range body.Example.Named {
		if e.Example == "" {
			return t, fmt.Errorf("no example of %s", e.Name)
		}
		examples = append(examples, e.Name)
	}
	switch {
	case r.Category != "utility" || r.Format != "named" || len(body.Text) == 0 || len([]rune(body.Text)) > 1024:
		return t, fmt.Errorf("its category, format or length")
	case strings.HasPrefix(body.Text, "{{") || strings.HasSuffix(strings.TrimRight(body.Text, ".!?। "), "}}"):
		return t, fmt.Errorf("a variable is first or last")
	case !slices.Equal(examples, t.variables):
		return t, fmt.Errorf("examples of %q for the variables %q", examples, t.variables)
	case strings.Contains(variable.ReplaceAllString(body.Text, ""), "{"):
		return t, fmt.Errorf("a brace that is no variable")
	}
	for _, b := range buttons {
		if b.Type == "quick_reply" && b.Text != "" && len([]rune(b.Text)) <= 25 && len(t.urls) == 0 {
			t.answers++
			continue
		}
		if b.Type != "url" || b.Text == "" || len([]rune(b.Text)) > 25 || !strings.HasSuffix(b.URL, "/{{1}}") || len(b.Example) != 1 {
			return t, fmt.Errorf("the button %+v", b)
		}
		t.urls = append(t.urls, b.URL)
	}
	if len(r.Components) == 2 && len(t.urls) == 0 || len(t.urls) > 2 {
		return t, fmt.Errorf("%d buttons with a link, want at most 2", len(t.urls))
	}
	return t, nil
}
