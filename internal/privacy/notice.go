// Package privacy owns the notice to families: what the service keeps about them and why, its versions,
// JSON, page, template and texts; and the export of a person's data, whose sources the server names.
package privacy

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/message"
)

// Notice is one version of the notice in one language.
type Notice struct {
	Language string
	// Version counts the texts of the language from 1, in the order in which a replica first had them.
	Version int64
	// Hash is the SHA-256 of Text in hexadecimal digits.
	Hash string
	// Text is Markdown with headings, paragraphs and lists only.
	Text string
	// FirstSeen is when a replica first had the text.
	FirstSeen time.Time
}

//go:embed notices/*.md
var builtIn embed.FS

// maxNotice is the largest file of a notice in bytes.
const maxNotice = 64 << 10

// Words replace the names in braces in a notice.
type Words struct {
	// Brand is the name of the service.
	Brand string
	// Contact is the address to which families write; empty if there is none.
	Contact string
	// Authority names by language where families can complain.
	Authority map[string]string
	// Kept says how long data is kept.
	Kept Retention
}

// Authorities name by PRIVACY_PROFILE and language where families can complain.
var Authorities = map[string]map[string]string{
	"none":  {"en": "the data protection authority of your country", "hi": "अपने देश के डेटा सुरक्षा कार्यालय"},
	"india": {"en": "the Data Protection Board of India", "hi": "भारत के डेटा संरक्षण बोर्ड"},
	"eu":    {"en": "the data protection authority of your country", "hi": "अपने देश के डेटा सुरक्षा कार्यालय"},
	"us":    {"en": "the Federal Trade Commission (FTC)", "hi": "Federal Trade Commission (FTC)"},
}

// ReadNotices returns the notice in each language from a folder, or the built-in one if folder is
// empty. A folder has en.md; a language without a file has the English text.
func ReadNotices(folder string, w Words) ([]Notice, error) {
	files, err := fs.Sub(builtIn, "notices")
	if folder != "" {
		files = os.DirFS(folder)
	}
	if err != nil {
		return nil, err
	}
	var notices []Notice
	for _, language := range message.Languages {
		text, err := fs.ReadFile(files, language+".md")
		if errors.Is(err, fs.ErrNotExist) && len(notices) > 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(text) > maxNotice || !utf8.Valid(text) || strings.TrimSpace(string(text)) == "" || strings.ContainsRune(string(text), 0) {
			return nil, fmt.Errorf("%s.md must be text in UTF-8, at most %d KiB", language, maxNotice>>10)
		}
		notices = append(notices, newNotice(language, string(text), w))
	}
	return notices, nil
}

// operators name the operators of a service without an address.
var operators = map[string]string{"en": "the people who run {brand}", "hi": "{brand} चलाने वाले लोगों"}

// untilAsked is how long data is kept without a time, and withPlayer how long medical notes are.
var (
	untilAsked = map[string]string{"en": "until you ask us to erase it", "hi": "जब तक आप मिटाने को न कहें"}
	withPlayer = map[string]string{"en": "as long as the rest about the child", "hi": "जब तक बच्चे की बाकी बातें रखी हैं"}
)

// keptFor returns a time in whole days, rounded up, or forever for 0.
func keptFor(d time.Duration, language string, forever map[string]string) string {
	days := int64((d + 24*time.Hour - 1) / (24 * time.Hour))
	switch {
	case days == 0:
		return forever[language]
	case language == "hi":
		return fmt.Sprintf("%d दिन", days)
	case days == 1:
		return "1 day"
	}
	return fmt.Sprintf("%d days", days)
}

func newNotice(language, text string, w Words) Notice {
	text = strings.ReplaceAll(text, "{contact}", cmp.Or(w.Contact, operators[language]))
	text = strings.NewReplacer(
		"\r\n", "\n", "{brand}", w.Brand, "{authority}", w.Authority[language],
		"{deleted}", keptFor(w.Kept.Deleted, language, untilAsked), "{unanswered}", keptFor(w.Kept.Unanswered, language, untilAsked),
		"{notifications}", keptFor(w.Kept.Notifications, language, untilAsked), "{deliveries}", keptFor(w.Kept.Deliveries, language, untilAsked),
		"{medical}", keptFor(w.Kept.Medical, language, withPlayer),
	).Replace(text)
	text = strings.TrimSpace(text) + "\n"
	hash := sha256.Sum256([]byte(text))
	return Notice{Language: language, Hash: hex.EncodeToString(hash[:]), Text: text}
}

// Block is a heading, a paragraph or a list of a notice.
type Block struct {
	// Heading is 1 for the title of the page and 2 for other headings; 0 for other blocks.
	Heading int
	Text    string
	Items   []string
}

// Blocks returns the blocks of the notice. Lines that begin with # are headings, lines that begin with
// - are items of a list; an empty line ends a paragraph.
func (n Notice) Blocks() []Block {
	var blocks []Block
	open := false // the last block goes on in the next line
	for line := range strings.SplitSeq(n.Text, "\n") {
		line = strings.TrimSpace(line)
		last := len(blocks) - 1
		item, isItem := strings.CutPrefix(line, "- ")
		switch {
		case line == "":
			open = false
		case strings.HasPrefix(line, "#"):
			blocks = append(blocks, Block{Heading: 2, Text: strings.TrimSpace(strings.TrimLeft(line, "#"))})
			if len(blocks) == 1 {
				blocks[0].Heading = 1
			}
			open = false
		case isItem && open && blocks[last].Items != nil:
			blocks[last].Items = append(blocks[last].Items, item)
		case isItem:
			blocks, open = append(blocks, Block{Items: []string{item}}), true
		case open && blocks[last].Items != nil:
			blocks[last].Items[len(blocks[last].Items)-1] += " " + line
		case open:
			blocks[last].Text += " " + line
		default:
			blocks, open = append(blocks, Block{Text: line}), true
		}
	}
	return blocks
}
