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
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/language"
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

// BuiltInNotice returns the built-in notice in a language with its names in braces, or "".
func BuiltInNotice(code string) string {
	text, err := builtIn.ReadFile("notices/" + code + ".md")
	if err != nil {
		return ""
	}
	return string(text)
}

// maxNotice is the largest file of a notice in bytes.
const maxNotice = 64 << 10

// Words replace the names in braces in a notice.
type Words struct {
	// Brand is the name of the service.
	Brand string
	// Contact is the address to which families write; empty if there is none.
	Contact string
	// Authority is the PRIVACY_PROFILE whose authority takes complaints of families, or empty.
	Authority string
	// Kept says how long data is kept.
	Kept Retention
}

// ReadNotices returns the notice in each language from a folder, or the built-in one if folder is
// empty. A folder has en.md; a language without a file has the text of its fallback.
func ReadNotices(folder string, w Words) ([]Notice, error) {
	files, err := fs.Sub(builtIn, "notices")
	if folder != "" {
		files = os.DirFS(folder)
	}
	if err != nil {
		return nil, err
	}
	var notices []Notice
	for _, code := range language.Offered() {
		text, err := fs.ReadFile(files, code+".md")
		if errors.Is(err, fs.ErrNotExist) && len(notices) > 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(text) > maxNotice || !utf8.Valid(text) || strings.TrimSpace(string(text)) == "" || strings.ContainsRune(string(text), 0) {
			return nil, fmt.Errorf("%s.md must be text in UTF-8, at most %d KiB", code, maxNotice>>10)
		}
		notice, err := newNotice(code, string(text), w)
		if err != nil {
			return nil, err
		}
		notices = append(notices, notice)
	}
	return notices, nil
}

// words are the texts that stand in a notice.
var words = []string{
	"notice.authority.none", "notice.authority.india", "notice.authority.us", "notice.operators", "notice.until_asked", "notice.with_player", "span.day", "span.days",
}

// keptFor returns a time in whole days, rounded up, or forever for 0.
func keptFor(d time.Duration, texts language.Texts, forever string) string {
	days := int64((d + 24*time.Hour - 1) / (24 * time.Hour))
	switch days {
	case 0:
		return forever
	case 1:
		return texts.Text("span.day")
	}
	return strings.ReplaceAll(texts.Text("span.days"), "{count}", strconv.FormatInt(days, 10))
}

func newNotice(code, text string, w Words) (Notice, error) {
	texts, err := language.Some(code, words, Files, message.Texts)
	if err != nil {
		return Notice{}, err
	}
	untilAsked, authority := texts.Text("notice.until_asked"), texts.Text("notice.authority."+w.Authority)
	if authority == "" {
		authority = texts.Text("notice.authority.none")
	}
	text = strings.ReplaceAll(text, "{contact}", cmp.Or(w.Contact, texts.Text("notice.operators")))
	text = strings.NewReplacer(
		"\r\n", "\n", "{brand}", w.Brand, "{authority}", authority,
		"{deleted}", keptFor(w.Kept.Deleted, texts, untilAsked), "{unanswered}", keptFor(w.Kept.Unanswered, texts, untilAsked),
		"{notifications}", keptFor(w.Kept.Notifications, texts, untilAsked), "{deliveries}", keptFor(w.Kept.Deliveries, texts, untilAsked),
		"{medical}", keptFor(w.Kept.Medical, texts, texts.Text("notice.with_player")),
	).Replace(text)
	text = strings.TrimSpace(text) + "\n"
	hash := sha256.Sum256([]byte(text))
	return Notice{Language: code, Hash: hex.EncodeToString(hash[:]), Text: text}, nil
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
