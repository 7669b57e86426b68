package language

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Own are the texts of an operator: single texts that replace built-in ones, and whole languages.
type Own struct {
	// Whole says which languages have only these texts.
	Whole  map[string]bool
	texts  map[string]Texts
	states map[string]State
	marks  []Mark
}

// lockName is the file with the marks of an operator.
const lockName = "texts.lock"

// ReadOwn reads a folder with <code>.json for each language and, with the marks of who checked them, texts.lock.
func ReadOwn(folder string, english Texts) (*Own, []Fault) {
	own := &Own{Whole: map[string]bool{}, texts: map[string]Texts{}, states: map[string]State{}}
	files, err := os.ReadDir(folder)
	if err != nil {
		return own, []Fault{{folder, "", "cannot be read: " + err.Error()}}
	}
	var faults []Fault
	add := func(file, text string) { faults = append(faults, Fault{filepath.Join(folder, file), "", text}) }
	for _, file := range files {
		name := file.Name()
		code, isTexts := strings.CutSuffix(name, ".json")
		if !isTexts && name != lockName {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			add(name, "cannot be read: "+err.Error())
			continue
		}
		if name == lockName {
			var wrong []Fault
			own.marks, wrong = ParseMarks(filepath.Join(folder, name), string(content))
			faults = append(faults, wrong...)
			continue
		}
		if !InTable(code) {
			add(name, "the table has no language "+code)
			continue
		}
		var texts Texts
		if err := json.Unmarshal(content, &texts); err != nil {
			add(name, "is no JSON object of texts by key: "+err.Error())
			continue
		}
		faults = append(faults, Check(filepath.Join(folder, name), code, texts, english)...)
		own.texts[code] = texts
	}
	own.setStates(english)
	slices.SortFunc(faults, func(a, b Fault) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Key, b.Key)) })
	return own, faults
}

// setStates finds the whole languages and who stands behind them: a language without built-in texts needs a mark for each
// text of a question. A single text that replaces a built-in one is the operator's word.
func (o *Own) setStates(english Texts) {
	for code, texts := range o.texts {
		if _, err := fs.Stat(files, "texts/"+code+".json"); err == nil || code == English || code == hindi {
			continue
		}
		o.Whole[code] = true
		marks, complete := MarksOf(code, texts, english, o.marks), true
		for key := range english {
			complete = complete && (!Asks(key) || texts[key] != nil)
		}
		o.states[code] = Draft
		if complete {
			o.states[code] = weakest(marks)[code]
		}
	}
}
