package language

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"strings"
	"sync"
)

// Texts are texts by key: a string, or an object with a text for each plural category.
type Texts map[string]any

// shortEnd ends the key of the shorter text of an SMS.
const shortEnd = ".short"

// files has texts/<code>.json with all texts of a language. English and Hindi are beside their features.
//
//go:embed texts
var files embed.FS

var embedded = struct {
	sync.Mutex
	texts map[string]Texts
}{texts: map[string]Texts{}}

// builtIn returns the texts of texts/<code>.json; nil if there is no such file.
func builtIn(code string) Texts {
	embedded.Lock()
	defer embedded.Unlock()
	texts, ok := embedded.texts[code]
	if ok {
		return texts
	}
	content, err := files.ReadFile("texts/" + code + ".json")
	if err == nil {
		if err := json.Unmarshal(content, &texts); err != nil {
			panic("language: texts/" + code + ".json: " + err.Error()) // a test reads each file
		}
	}
	embedded.texts[code] = texts
	return texts
}

// HasTexts reports whether a language has texts, built in or from an operator.
func HasTexts(code string, own *Own) bool {
	if code == English || code == hindi || own.Whole[code] {
		return true
	}
	_, err := fs.Stat(files, "texts/"+code+".json")
	return err == nil
}

// hindi has its texts beside the features, as English.
const hindi = "hi"

// TextsOf returns the texts of a language in folders with files <area>.<code>.json and of the operator, without those of its
// fallbacks.
func TextsOf(code string, folders ...fs.FS) (Texts, error) {
	all := maps.Clone(builtIn(code))
	if all == nil {
		all = Texts{}
	}
	for _, folder := range folders {
		texts, err := readFolder(folder, code)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, texts)
	}
	maps.Copy(all, current.Load().own.texts[code])
	return all, nil
}

// Read returns the texts of a folder in a language. A text that the language lacks is that of its fallback.
func Read(code string, folder fs.FS) (Texts, error) {
	english, err := readFolder(folder, English)
	if err != nil {
		return nil, err
	}
	all := Texts{}
	chain := Chain(code)
	for i := len(chain) - 1; i >= 0; i-- {
		texts, err := readFolder(folder, chain[i])
		if err != nil {
			return nil, err
		}
		all.cover(builtIn(chain[i]), english)
		all.cover(texts, english)
		all.cover(current.Load().own.texts[chain[i]], english)
	}
	return all, nil
}

// cover replaces texts by others that english knows. The shorter text of an SMS goes with its text.
func (t Texts) cover(others, english Texts) {
	for key, text := range others {
		base, short := strings.CutSuffix(key, shortEnd)
		if _, known := english[base]; !known && english[key] == nil {
			continue
		}
		t[key] = text
		if _, ok := others[key+shortEnd]; !ok && !short {
			delete(t, key+shortEnd)
		}
	}
}

// readFolder returns the texts of the files <area>.<code>.json of a folder.
func readFolder(folder fs.FS, code string) (Texts, error) {
	names, err := fs.Glob(folder, "*."+code+".json")
	if err != nil {
		return nil, err
	}
	all := Texts{}
	for _, name := range names {
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		var texts Texts
		if err := json.Unmarshal(content, &texts); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		maps.Copy(all, texts)
	}
	return all, nil
}

// WriteTexts writes texts as a file of TEXTS, in the order of their keys.
func WriteTexts(w io.Writer, texts Texts) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(texts)
}

// Text returns a text that is no object.
func (t Texts) Text(key string) string {
	text, _ := t[key].(string)
	return text
}
