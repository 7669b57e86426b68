package coach

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// These bound a tiers file.
	maxTiers    = 50
	maxFeatures = 100
	maxText     = 100
)

var tierName = regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)

// ParseTiers parses tiers from JSON (see docs/tiers.md). It returns every problem,
// each with a JSON pointer.
func ParseTiers(text []byte) ([]Tier, []string) {
	p := &tierParser{}
	file, err := p.parse(text)
	if err != nil {
		return nil, []string{err.Error()}
	}
	root := p.object(file, "", "tiers")
	if root == nil {
		return nil, p.problems
	}
	list, ok := p.list(root["tiers"], "/tiers", maxTiers)
	if ok && len(list) == 0 {
		p.addProblem("/tiers", "must have at least one tier")
	}
	var tiers []Tier
	for i, item := range list {
		tiers = append(tiers, p.tier(item, fmt.Sprintf("/tiers/%d", i), tiers))
	}
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return tiers, nil
}

// tierParser collects the problems of a tiers file.
type tierParser struct{ problems []string }

func (p *tierParser) addProblem(at, format string, args ...any) {
	if at == "" {
		at = "the file"
	}
	p.problems = append(p.problems, at+" "+fmt.Sprintf(format, args...))
}

// tier parses one tier; others are the tiers before it.
func (p *tierParser) tier(v any, at string, others []Tier) Tier {
	m := p.object(v, at, "name", "title", "self_service", "features", "limits", "shows", "kyc_for")
	if m == nil {
		return Tier{}
	}
	var t Tier
	t.Name, _ = m["name"].(string)
	switch {
	case !tierName.MatchString(t.Name):
		p.addProblem(at+"/name", "must be 1 to 40 characters of a-z, 0-9, _ and -")
	case slices.ContainsFunc(others, func(o Tier) bool { return o.Name == t.Name }):
		p.addProblem(at+"/name", "repeats the name %s", t.Name)
	}
	t.Title = p.text(m["title"], at+"/title")
	t.SelfService = p.boolean(m["self_service"], at+"/self_service")
	t.Features = slices.Clone(StandardFeatures)
	if m["features"] != nil {
		t.Features = p.texts(m["features"], at+"/features", nil)
	}
	t.Shows = p.texts(m["shows"], at+"/shows", Showable)
	t.KYCFor = p.texts(m["kyc_for"], at+"/kyc_for", []string{ForVisibility})
	if limits, there := m["limits"]; there {
		at += "/limits"
		l := p.object(limits, at, "players", "unverified_players", "storage_bytes", "messages_per_day")
		t.Limits = Limits{
			Players: p.limit(l["players"], at+"/players"), UnverifiedPlayers: p.limit(l["unverified_players"], at+"/unverified_players"),
			StorageBytes: p.limit(l["storage_bytes"], at+"/storage_bytes"), MessagesPerDay: p.limit(l["messages_per_day"], at+"/messages_per_day"),
		}
	}
	return t
}

// object returns v as an object that may have only these members, or nil.
func (p *tierParser) object(v any, at string, names ...string) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		p.addProblem(at, "must be an object with %s", strings.Join(names, ", "))
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(names, name) {
			p.addProblem(at+"/"+pointerEscaper.Replace(name), "is not known; use %s", strings.Join(names, ", "))
		}
	}
	return m
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func (p *tierParser) list(v any, at string, most int) ([]any, bool) {
	list, ok := v.([]any)
	switch {
	case !ok:
		p.addProblem(at, "must be a list")
	case len(list) > most:
		p.addProblem(at, "may have at most %d items", most)
		return nil, false
	}
	return list, ok
}

// texts parses a list of distinct strings, restricted to known unless that is nil.
// A missing list is empty.
func (p *tierParser) texts(v any, at string, known []string) []string {
	words := []string{}
	if v == nil {
		return words
	}
	list, _ := p.list(v, at, maxFeatures)
	for i, item := range list {
		pointer := at + "/" + strconv.Itoa(i)
		if known != nil {
			if word, ok := item.(string); !ok || !slices.Contains(known, word) {
				p.addProblem(pointer, "must be one of %s", strings.Join(known, ", "))
				continue
			}
		}
		word := p.text(item, pointer)
		if slices.Contains(words, word) && word != "" {
			p.addProblem(pointer, "is repeated")
		}
		words = append(words, word)
	}
	return words
}

func (p *tierParser) text(v any, at string) string {
	s, ok := v.(string)
	if n := utf8.RuneCountInString(strings.TrimSpace(s)); !ok || n == 0 || n > maxText {
		p.addProblem(at, "must be a text of 1 to %d characters", maxText)
	}
	return strings.TrimSpace(s)
}

func (p *tierParser) boolean(v any, at string) bool {
	b, ok := v.(bool)
	if !ok && v != nil {
		p.addProblem(at, "must be true or false")
	}
	return b
}

// limit parses a limit; 0, null or a missing member is no limit.
func (p *tierParser) limit(v any, at string) int64 {
	const most = 1 << 53 // the largest integer that every JSON reader can represent
	if v == nil {
		return 0
	}
	number, _ := v.(json.Number)
	n, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil || n < 0 || n > most {
		p.addProblem(at, "must be a whole number from 0 to %d; 0 is no limit", int64(most))
		return 0
	}
	return n
}
