package attendance

import (
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// The fields of a sheet: the ids of its players, then for each player the letter of the mark,
// the note, and when the phone made the mark. A key of the player follows the prefix.
const (
	playersField  = "players"
	markField     = "m-"
	noteField     = "n-"
	markedAtField = "t-"
)

// maxSheetRows is more players than a batch and those who left it have.
const maxSheetRows = 2 * team.MaxBatchPlayers

// playerKeys returns a key for each player: the end of the id, which is random, or the whole
// id if another player has that key. A sheet of 500 players repeats a key 2,500 times.
func playerKeys(ids []string) []string {
	const length = 8
	keys, used := make([]string, len(ids)), make(map[string]bool, len(ids))
	for i, id := range ids {
		key := id[max(0, len(id)-length):]
		if used[key] {
			key = id
		}
		keys[i], used[key] = key, true
	}
	return keys
}

// letter returns the value of a mark in a form.
func letter(m team.Mark) string { return string(m)[:min(1, len(m))] }

// markOf returns the mark with a letter, or "".
func markOf(value string) team.Mark {
	for _, m := range team.Marks {
		if letter(m) == value {
			return m
		}
	}
	return ""
}

// markChoice is a mark with its letter in the form, and its short and its long text.
type markChoice struct {
	Letter, Short, Text string
	Checked             bool
}

// sheetRow is one player on the page of a sheet.
type sheetRow struct {
	Key, Name string
	// Medical is the player whose medical notes the coach can show, or "".
	Medical string
	// Choices are the radio buttons of the four marks.
	Choices template.HTML
	Note    string
	// At is when the phone made the mark, for a form that is shown again.
	At string
	// Remark says that the player has left the batch, and which other mark is stored meanwhile.
	Remark               string
	MarkFault, NoteFault string
	// Closed says that the row cannot be changed.
	Closed bool
}

// sheetForm returns the parts of the form with a row for each player: the players of the batch by name, then those who left it and
// have a mark. The values of the form of v, if any, replace the stored marks.
func (p pages) sheetForm(v *web.View, sheet *Sheet, members []team.Membership) (map[string]any, error) {
	players := sheet.rows(members)
	ids := make([]string, len(players))
	for i, m := range players {
		ids[i] = m.PlayerID
	}
	rows := make([]sheetRow, len(ids))
	choices := map[team.Mark]string{}
	here, away, medical := 0, 0, false
	for i, key := range playerKeys(ids) {
		row, m := &rows[i], players[i]
		row.Key, row.Name, row.Note, row.Closed = key, m.StudentName, m.Note, !sheet.Batch.ArchivedAt.IsZero()
		if m.hasMedical {
			row.Medical, medical = m.PlayerID, true
		}
		mark := m.Mark
		if mark == "" && sheet.CannotCome[m.PlayerID] {
			row.Remark = v.MustT("attendance.cannot_come")
			if sheet.Version == 0 {
				mark = team.Excused // the sheet starts from what the family said
			}
		}
		if !m.inBatch {
			row.Remark = v.MustT("attendance.left")
		}
		if values := v.Form.Values; values != nil {
			mark, row.Note, row.At = markOf(values.Get(markField+key)), values.Get(noteField+key), values.Get(markedAtField+key)
			row.MarkFault, row.NoteFault = v.Form.Fault(markField+key), v.Form.Fault(noteField+key)
			v.Label(markField+key, m.StudentName)
			v.Label(noteField+key, m.StudentName)
			if mark != m.Mark && m.Mark != "" {
				row.Remark += " " + v.MustT("attendance.other", "Mark", v.MustT("mark."+string(m.Mark)))
			}
		}
		switch mark {
		case team.Present, team.Late:
			here++
		case team.Absent, team.Excused:
			away++
		}
		if choices[mark] == "" {
			part, err := p.site.RenderPart("mark-choices", marks(v, mark))
			if err != nil {
				return nil, err
			}
			choices[mark] = part
		}
		row.Choices = template.HTML(strings.ReplaceAll(choices[mark], "KEY", key)) // a key is a part of an id
	}
	left := len(rows) - here - away
	return map[string]any{"Players": strings.Join(ids, " "), "Rows": rows, "Marks": marks(v, ""), "Here": here, "Away": away, "Left": left, "Medical": medical}, nil
}

// marks returns the four marks in the language of the page.
func marks(v *web.View, checked team.Mark) []markChoice {
	choices := make([]markChoice, len(team.Marks))
	for i, m := range team.Marks {
		choices[i] = markChoice{letter(m), v.MustT("mark.short." + string(m)), v.MustT("mark." + string(m)), m == checked}
	}
	return choices
}

// markFault returns the field and the text of a fault of a mark.
func markFault(v *web.View, field fault.Field, ids []string, marks []NewMark) (name, text string) {
	rest, ok := strings.CutPrefix(field.Pointer, "/marks/")
	index, _, _ := strings.Cut(rest, "/")
	if i, err := strconv.Atoi(index); ok && err == nil && i < len(marks) {
		name = markField + playerKeys(ids)[slices.Index(ids, marks[i].PlayerID)]
	}
	return name, v.TextOr("attendance.fault."+field.Code, field.Detail)
}

// readMarks reads the marks of the players. With rest=…, players without a mark get that one.
func (p pages) readMarks(r *web.Request, ids []string, f *web.Form) []NewMark {
	rest := team.Mark(r.Value("rest"))
	var marks []NewMark
	for i, key := range playerKeys(ids) {
		mark := markOf(r.Value(markField + key))
		if mark == "" && slices.Contains(team.Marks, rest) {
			mark = rest
			f.Values.Set(markField+key, letter(rest))
		}
		if mark == "" {
			continue
		}
		note := r.Value(noteField + key)
		if utf8.RuneCountInString(note) > MaxMarkNote {
			f.Add(noteField+key, p.site.NewView(r, "").MustT("invalid.too_long"))
		}
		marks = append(marks, NewMark{PlayerID: ids[i], Mark: mark, Note: &note, MarkedAt: p.markedAt(r.Value(markedAtField + key))})
	}
	return marks
}

// markedAt returns when the phone made a mark, or zero for now. A phone whose clock is ahead
// made it now.
func (p pages) markedAt(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.After(p.Now()) || t.Year() < 2000 {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
