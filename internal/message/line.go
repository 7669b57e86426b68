package message

import "strings"

// Line returns a text that a user typed as one line without control and invisible characters. Unlike Name it keeps everything
// else: "Juniors Mon/Wed" of a calendar is no link.
func Line(text string) string { return strings.Join(strings.Fields(strings.Map(visible, text)), " ") }
