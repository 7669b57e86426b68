package language

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// State says who stands behind a text.
type State int

// The states, the weakest first.
const (
	// Draft is a text that only its author read. It asks no one.
	Draft State = iota
	// Compared is a text that a second translator translated back without the English: who, what, yes, no and taking back agreed.
	Compared
	// Written is a text that the team wrote together with the English. No native reader is recorded.
	Written
	// Read is a text that a native speaker read, whose initials and date are recorded.
	ReadByNative
)

var stateNames = []string{"draft", "compared", "written", "read"}

func (s State) String() string { return stateNames[s] }

// ParseState reads the name of a state.
func ParseState(name string) (State, bool) {
	i := slices.Index(stateNames, name)
	return State(max(0, i)), i >= 0
}

// MayAsk reports whether a question may be asked with the text.
func (s State) MayAsk() bool { return s >= Compared }

// NoticeKey names the notice among the texts.
const NoticeKey = "notice.md"

// asking begin the keys of the texts with which a person is asked, learns what an answer does, and answers.
var asking = []string{"question.", "answer.", "check.", "service.", "call.", "chat.", "sms.", "whatsapp"}

// Asks reports whether a text belongs to a question, the notice, an answer, a call or an SMS.
func Asks(key string) bool {
	return key == NoticeKey || slices.ContainsFunc(asking, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// Mark is a line of a lock: who checked a text in a language, and which one.
type Mark struct {
	Language, Key string
	// English and Text are the hashes of the English text and of the translation.
	English, Text string
	State         State
	// By are the initials and the date of a native speaker.
	By string
}

// LockHead begins a lock.
const LockHead = `# Who checked the texts with which a person is asked: language, key, hash of the English, hash of the text, state.
# draft: only its author read it; it asks no one. compared: a second translator translated it back without the English.
# written: the team wrote it with the English; no native reader is recorded. read: a native speaker read it: initials and date.
`

// Hash returns the hash of a text in a Mark.
func Hash(text any) string {
	content, _ := json.Marshal(text)
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:4])
}

// String returns the line.
func (m Mark) String() string {
	return strings.TrimSpace(strings.Join([]string{m.Language, m.Key, m.English, m.Text, m.State.String(), m.By}, " "))
}

// ParseMarks reads a lock: a line for each text, empty lines and comments that begin with #.
func ParseMarks(file, content string) (marks []Mark, faults []Fault) {
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, " ", 6)
		if len(parts) < 5 || !InTable(parts[0]) || !knownState(parts[4]) {
			faults = append(faults, Fault{file, "", fmt.Sprintf("%q is no line of a lock: language, key, two hashes, draft, compared, written or read, initials and date", line)})
			continue
		}
		m := Mark{Language: parts[0], Key: parts[1], English: parts[2], Text: parts[3]}
		m.State, _ = ParseState(parts[4])
		if len(parts) == 6 {
			m.By = parts[5]
		}
		if m.State == ReadByNative && m.By == "" {
			faults = append(faults, Fault{file, m.Key, "read needs the initials of the reader and the date"})
			continue
		}
		marks = append(marks, m)
	}
	return marks, faults
}

func knownState(name string) bool {
	_, ok := ParseState(name)
	return ok
}

//go:embed texts.lock
var lockFile string

// BuiltInMarks returns the marks of the built-in texts. A test compares their hashes with the texts.
func BuiltInMarks() []Mark {
	marks, _ := ParseMarks("texts.lock", lockFile)
	return marks
}

// Marks returns the built-in marks and those of the operator.
func Marks() []Mark { return append(BuiltInMarks(), current.Load().own.marks...) }

// StateOf returns the weakest state of the texts with which a person is asked in a language.
func StateOf(code string) State { return checkedWith(code, current.Load().own) }

func checkedWith(code string, own *Own) State {
	if code == English {
		return Written
	}
	if state, whole := own.states[code]; whole {
		return state
	}
	state, ok := builtInStates[code]
	if !ok {
		return Draft
	}
	return state
}

// builtInStates has the weakest state of each language in the lock, without the marks: the start of a process needs no more.
var builtInStates = func() map[string]State {
	states := map[string]State{}
	for line := range strings.Lines(lockFile) {
		code, rest, _ := strings.Cut(line, " ")
		if code == "#" || strings.TrimSpace(line) == "" {
			continue
		}
		for range 3 { // the key and two hashes
			_, rest, _ = strings.Cut(rest, " ")
		}
		name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		state, _ := ParseState(name)
		if weakest, ok := states[code]; !ok || state < weakest {
			states[code] = state
		}
	}
	return states
}()

func weakest(marks []Mark) map[string]State {
	states := map[string]State{}
	for _, m := range marks {
		if state, ok := states[m.Language]; !ok || m.State < state {
			states[m.Language] = m.State
		}
	}
	return states
}

// NotRead returns how many texts of a question no native speaker is recorded to have read, by language.
func NotRead() map[string]int {
	counts := map[string]int{}
	for _, m := range Marks() {
		if m.State != ReadByNative && IsOffered(m.Language) {
			counts[m.Language]++
		}
	}
	return counts
}

// MarksOf returns the marks of the texts of a language, as they are now: a text that changed, or whose English changed,
// since old was written is a draft again.
func MarksOf(code string, texts, english Texts, old []Mark) []Mark {
	before := map[string]Mark{}
	for _, m := range old {
		if m.Language == code {
			before[m.Key] = m
		}
	}
	var marks []Mark
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		source, ok := english[strings.TrimSuffix(key, shortEnd)]
		if !ok || !Asks(key) {
			continue
		}
		m := Mark{Language: code, Key: key, English: Hash(source), Text: Hash(texts[key])}
		if was := before[key]; was.English == m.English && was.Text == m.Text {
			m = was
		}
		marks = append(marks, m)
	}
	return marks
}

func keysOf[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }
