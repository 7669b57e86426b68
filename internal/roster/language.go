package roster

// languageNames are the languages of messages as an export writes them, by code.
var languageNames = map[string]string{"en": "English", "hi": "Hindi"}

// languageCodes maps what a cell may say to the code of the language.
var languageCodes = newLanguageCodes()

func newLanguageCodes() map[string]string {
	codes := map[string]string{}
	for code, names := range map[string][]string{"en": {"en", "English", "अंग्रेज़ी", "अंग्रेजी", "इंग्लिश"}, "hi": {"hi", "Hindi", "हिन्दी", "हिंदी"}} {
		for _, name := range names {
			codes[foldTitle(name)] = code
		}
	}
	return codes
}

// checkLanguage replaces a language by its code, or adds a fault.
func (r *Row) checkLanguage(c Column) {
	text := r.Entry.Cell(c)
	if *text == "" {
		return
	}
	code, known := languageCodes[foldTitle(*text)]
	if !known {
		r.add(c, "unknown_language", "Write English or Hindi, or leave the cell empty.")
		return
	}
	*text = code
}
