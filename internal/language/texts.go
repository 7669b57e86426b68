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
	"sort"
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
		err = json.Unmarshal(bytes.TrimSuffix(value, []byte(",")), &text)
		if err != nil {
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
	found, buffer := Texts{}, make([]byte, longestEntry)
	for _, c := range Chain(code) {
		maps.Copy(found, missingOf(found, current.Load().own.texts[c], keys))
		beside, err := readFiles(folders, c)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			value := search(buffer, "texts/"+c+".json", key)
			for i := 0; value == nil && i < len(beside); i++ {
				if _, rest, ok := bytes.Cut(beside[i], []byte("\n  \""+key+`": `)); ok {
					value = bytes.NewReader(rest)
				}
			}
			if value == nil || found[key] != nil {
				continue
			}
			var text string
			if err := json.NewDecoder(value).Decode(&text); err != nil {
				return nil, fmt.Errorf("text %s in %s: %w", key, c, err)
			}
			found[key] = text
		}
	}
	return found, nil
}

// longestEntry is more than the bytes of a text in a file.
const longestEntry = 4 << 10

// search returns what follows a key in a file of WriteTexts, or nil. The keys are in order: it reads a few pages of memory,
// not all of the file.
func search(buffer []byte, name, key string) io.Reader {
	file, err := files.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	content, ok := file.(io.ReaderAt)
	if err != nil || !ok {
		return nil
	}
	begin := []byte("\n  \"")
	entry := func(from int) (name string, value int64) { // the first entry that begins at from or later
		n, _ := content.ReadAt(buffer, int64(from))
		i := bytes.Index(buffer[:n], begin)
		if i < 0 {
			return "", 0
		}
		found, _, _ := bytes.Cut(buffer[i+len(begin):n], []byte(`": `))
		return string(found), int64(from + i + len(begin) + len(found) + len(`": `))
	}
	at := sort.Search(int(info.Size()), func(i int) bool {
		name, value := entry(i)
		return value == 0 || name >= key
	})
	found, value := entry(at)
	if found != key {
		return nil
	}
	return io.NewSectionReader(content, value, longestEntry)
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

// readFiles returns the files <area>.<code>.json of folders.
func readFiles(folders []fs.FS, code string) (contents [][]byte, err error) {
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
			contents = append(contents, content)
		}
	}
	return contents, nil
}

// readFolders returns the texts of the files <area>.<code>.json of folders.
func readFolders(folders []fs.FS, code string) (Texts, error) {
	contents, err := readFiles(folders, code)
	if err != nil {
		return nil, err
	}
	all := Texts{}
	for _, content := range contents {
		var texts Texts
		if err := json.Unmarshal(content, &texts); err != nil {
			return nil, fmt.Errorf("texts in %s: %w", code, err)
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
