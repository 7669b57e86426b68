package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/server"
)

// textsCommand returns the commands for translators.
func textsCommand(environ []string) *cobra.Command {
	return group("texts", "write the texts of a language for a translator, read them back, check them", `The texts of a language are one file for a translator. "export" writes it with the English, the last translation,
where each text is shown, its longest length, and which English has changed since. "import" checks the file and writes
the texts for the folder of TEXTS. "check" checks all texts that are there. "record" writes who checked the texts with
which a person is asked: a question in a language that no second translator checked is not sent.`,
		exportTextsCommand(environ), importTextsCommand(environ), checkTextsCommand(environ), recordTextsCommand(environ))
}

// languageFlag adds the flag --language to c and returns what reads it.
func languageFlag(c *cobra.Command) func() (string, error) {
	code := c.Flags().String("language", "", "the `code` of the language, such as ta")
	return func() (string, error) {
		if !language.InTable(*code) || *code == language.English {
			return "", fmt.Errorf("--language must be one of %s", strings.Join(tableCodes(), ", "))
		}
		return *code, nil
	}
}

func tableCodes() (codes []string) {
	for _, l := range language.All()[1:] {
		codes = append(codes, l.Code)
	}
	return codes
}

// textsOf returns the texts of a language and the English ones.
func textsOf(code string) (texts, english language.Texts, err error) {
	english, err = server.TextsOf(language.English)
	if err == nil {
		texts, err = server.TextsOf(code)
	}
	return texts, english, err
}

func exportTextsCommand(environ []string) *cobra.Command {
	c := &cobra.Command{Use: "export", Short: "write the texts of a language for a translator", Args: cobra.NoArgs}
	code, format := languageFlag(c), c.Flags().String("format", "xliff", "the format: xliff, csv or json")
	read := withSettings(c, environ)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if _, err := read(); err != nil {
			return err
		}
		chosen, err := code()
		if err != nil {
			return err
		}
		if !slices.Contains(language.Formats, *format) {
			return fmt.Errorf("--format must be one of %s", strings.Join(language.Formats, ", "))
		}
		texts, english, err := textsOf(chosen)
		if err != nil {
			return failed(err)
		}
		return failed(language.WriteUnits(c.OutOrStdout(), *format, chosen, language.Units(chosen, texts, english, language.Marks())))
	}
	return c
}

func importTextsCommand(environ []string) *cobra.Command {
	c := &cobra.Command{Use: "import <file>", Short: "check the file of a translator and write its texts for the folder of TEXTS", Args: cobra.ExactArgs(1)}
	code, to := languageFlag(c), c.Flags().String("to", ".", "the `folder` that gets <language>.json")
	format := c.Flags().String("format", "", "the format: xliff, csv or json; without it the end of the file's name says it")
	read := withSettings(c, environ)
	c.RunE = func(c *cobra.Command, args []string) error {
		if _, err := read(); err != nil {
			return err
		}
		chosen, err := code()
		if err != nil {
			return err
		}
		_, english, err := textsOf(chosen)
		if err != nil {
			return failed(err)
		}
		return failed(importTexts(c, chosen, args[0], cmp.Or(*format, strings.TrimPrefix(filepath.Ext(args[0]), ".")), *to, english))
	}
	return c
}

func importTexts(c *cobra.Command, code, file, format, to string, english language.Texts) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	if format == "xlf" {
		format = "xliff"
	}
	units, err := language.ReadUnits(in, format)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	texts := language.FromUnits(units)
	if faults := language.Check(file, code, texts, english); len(faults) > 0 {
		return faultsFound(c, faults)
	}
	path := filepath.Join(to, code+".json")
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(language.WriteTexts(out, texts), out.Close()); err != nil {
		return err
	}
	c.Printf("%s has %d texts.\n", path, len(texts))
	return nil
}

func checkTextsCommand(environ []string) *cobra.Command {
	c := withJSON(&cobra.Command{Use: "check", Short: "check the texts of all languages; exit status 3 if one has a fault", Args: cobra.NoArgs})
	read := withSettings(c, environ)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if _, err := read(); err != nil {
			return err
		}
		var faults []language.Fault
		for _, code := range tableCodes() {
			texts, english, err := textsOf(code)
			if err != nil {
				return failed(err)
			}
			faults = append(faults, language.Check(code, code, texts, english)...)
			missing := 0
			for key := range english {
				if texts[key] == nil {
					missing++
				}
			}
			if len(texts) == 0 {
				continue
			}
			name, state := language.Of(code).InEnglish, language.StateOf(code).String()
			result := map[string]any{"language": code, "name": name, "texts": len(texts), "from_fallback": missing, "question": state, "offered": language.IsOffered(code)}
			err = printResult(c, result, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%-4s %-10s %4d texts, %4d from the fallback; question: %s\n", code, name, len(texts), missing, state)
				return err
			})
			if err != nil {
				return failed(err)
			}
		}
		return faultsFound(c, faults)
	}
	return c
}

func faultsFound(c *cobra.Command, faults []language.Fault) error {
	for _, f := range faults {
		fmt.Fprintln(c.ErrOrStderr(), f.Error())
	}
	if len(faults) > 0 {
		return failed(checkError{fmt.Errorf("%d faults in texts", len(faults))})
	}
	return nil
}

func recordTextsCommand(environ []string) *cobra.Command {
	c := &cobra.Command{Use: "record", Short: "write who checked the texts with which a person is asked into texts.lock", Args: cobra.NoArgs}
	code, lock := languageFlag(c), c.Flags().String("lock", "texts.lock", "the `file` to write, in the folder of TEXTS")
	name := c.Flags().String("state", "draft", "draft, compared or read; texts that did not change keep a stronger one")
	from := c.Flags().String("from", "", `a JSON `+"`file`"+` with the keys of the texts that were checked: {"compared": ["question.about", …]}; without it all texts were`)
	by := c.Flags().String("by", "", "for read: the initials of the native speaker and the date")
	read := withSettings(c, environ)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if _, err := read(); err != nil {
			return err
		}
		chosen, err := code()
		if err != nil {
			return err
		}
		state, ok := language.ParseState(*name)
		if !ok || (state == language.ReadByNative) != (*by != "") {
			return errors.New("--state must be draft, compared, written or read, and read needs --by with the initials of the reader and the date")
		}
		checked, err := readChecked(*from)
		if err != nil {
			return failed(err)
		}
		texts, english, err := textsOf(chosen)
		if err != nil {
			return failed(err)
		}
		return failed(recordTexts(c, chosen, *lock, mark{state, *by, checked}, texts, english))
	}
	return c
}

// mark is what is recorded for texts: the checked ones, or all if checked is nil.
type mark struct {
	state   language.State
	by      string
	checked []string
}

// readChecked reads the keys of the texts that a second translator compared; nil without a file.
func readChecked(file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	result := struct{ Compared []string }{Compared: []string{}}
	if err := json.Unmarshal(content, &result); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return result.Compared, nil
}

func recordTexts(c *cobra.Command, code, lock string, by mark, texts, english language.Texts) error {
	content, err := os.ReadFile(lock)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	old, faults := language.ParseMarks(lock, string(content))
	if len(faults) > 0 {
		return faultsFound(c, faults)
	}
	marks := language.MarksOf(code, texts, english, old)
	for i := range marks {
		checked := by.checked == nil || slices.Contains(by.checked, marks[i].Key)
		if checked && (marks[i].State < by.state || by.state == language.ReadByNative) {
			marks[i].State, marks[i].By = by.state, by.by
		}
	}
	marks = append(slices.DeleteFunc(old, func(m language.Mark) bool { return m.Language == code }), marks...)
	slices.SortFunc(marks, func(a, b language.Mark) int {
		return cmp.Or(cmp.Compare(a.Language, b.Language), cmp.Compare(a.Key, b.Key))
	})
	out, err := os.Create(lock)
	if err != nil {
		return err
	}
	counts := map[language.State]int{}
	_, err = io.WriteString(out, language.LockHead)
	for _, m := range marks {
		if err == nil {
			_, err = fmt.Fprintln(out, m)
		}
		if m.Language == code {
			counts[m.State]++
		}
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		c.Printf("%s: %d texts are %s.\n", code, counts[state], state)
	}
	return nil
}
