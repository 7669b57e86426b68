package language

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Texts are texts by key: a string, or an object with a text for each plural category.
type Texts map[string]any

// shortEnd ends the key of the shorter text of an SMS.
const shortEnd = ".short"

// files has texts/<code>.json with all texts of a language. English and Hindi are beside their features.
//
//go:embed texts
var files embed.FS

// builtIn returns the texts of texts/<code>.json that wanted has; all for nil. It decodes no others: a file has 300 KB, and
// messages need a tenth of it.
func builtIn(code string, wanted Texts) (Texts, error) {
	content, err := files.ReadFile("texts/" + code + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	texts := Texts{}
	for len(content) > 0 && err == nil {
		line, rest, _ := bytes.Cut(content, []byte("\n"))
		content = rest
		key, value, isEntry := bytes.Cut(line, []byte(`": `))
		if !isEntry || !bytes.HasPrefix(key, []byte(`  "`)) {
			continue
		}
		if bytes.Equal(value, []byte("{")) {
			forms, after, _ := bytes.Cut(content, []byte("\n  }"))
			value, content = slices.Concat([]byte("{"), forms, []byte("}")), after
		}
		name := string(key[3:])
		if wanted != nil && wanted[name] == nil && wanted[strings.TrimSuffix(name, shortEnd)] == nil {
			continue
		}
		var text any
		if err = json.Unmarshal(bytes.TrimSuffix(value, []byte(",")), &text); err != nil {
			err = fmt.Errorf("texts/%s.json: %s: %w", code, name, err)
		}
		texts[name] = text
	}
	return texts, err
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
	all, err := builtIn(code, nil)
	if err != nil {
		return nil, err
	}
	if all == nil {
		all = Texts{}
	}
	texts, err := readFolders(folders, code)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, texts)
	maps.Copy(all, current.Load().own.texts[code])
	return all, nil
}

// Read returns the texts of folders in a language. A text that the language lacks is that of its fallback.
func Read(code string, folders ...fs.FS) (Texts, error) {
	english, err := readFolders(folders, English)
	if err != nil {
		return nil, err
	}
	all := Texts{}
	chain := Chain(code)
	for i := len(chain) - 1; i >= 0; i-- {
		whole, err := builtIn(chain[i], english)
		if err != nil {
			return nil, err
		}
		texts, err := readFolders(folders, chain[i])
		if err != nil {
			return nil, err
		}
		all.cover(whole, english)
		all.cover(texts, english)
		all.cover(current.Load().own.texts[chain[i]], english)
	}
	return all, nil
}

// Some returns a few texts of folders, as Read. It finds them without decoding the files, for the start of a process.
func Some(code string, keys []string, folders ...fs.FS) (Texts, error) {
	found := Texts{}
	for _, c := range Chain(code) {
		maps.Copy(found, missingOf(found, current.Load().own.texts[c], keys))
		var contents [][]byte
		if content, err := files.ReadFile("texts/" + c + ".json"); err == nil {
			contents = append(contents, content)
		}
		for _, folder := range folders {
			names, err := fs.Glob(folder, "*."+c+".json")
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				content, err := fs.ReadFile(folder, name)
				if err != nil {
					return nil, err
				}
				contents = append(contents, content)
			}
		}
		for _, content := range contents {
			for _, key := range keys {
				_, value, ok := bytes.Cut(content, []byte("\n  \""+key+`": `))
				if !ok || found[key] != nil {
					continue
				}
				var text string
				if err := json.NewDecoder(bytes.NewReader(value)).Decode(&text); err != nil {
					return nil, fmt.Errorf("text %s in %s: %w", key, c, err)
				}
				found[key] = text
			}
		}
	}
	return found, nil
}

// missingOf returns those of texts that found lacks.
func missingOf(found, texts Texts, keys []string) Texts {
	missing := Texts{}
	for _, key := range keys {
		if text := texts[key]; text != nil && found[key] == nil {
			missing[key] = text
		}
	}
	return missing
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

// readFolders returns the texts of the files <area>.<code>.json of folders.
func readFolders(folders []fs.FS, code string) (Texts, error) {
	all := Texts{}
	for _, folder := range folders {
		names, err := fs.Glob(folder, "*."+code+".json")
		if err != nil {
			return nil, err
		}
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
