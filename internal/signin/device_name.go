package signin

import "strings"

// unknownBrowser is the name of a browser that the service does not know.
const unknownBrowser = "Browser"

// deviceName returns a short name of the browser for the list of signed-in devices. Every browser
// of an iPhone says Safari, and every one with the engine of Chrome says Chrome, so these are last.
func deviceName(userAgent string) string {
	system, browser := "", ""
	for _, known := range [][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS", "Mac"}, {"Linux", "Linux"}} {
		if strings.Contains(userAgent, known[0]) {
			system = known[1]
			break
		}
	}
	for _, known := range [][2]string{
		{"SamsungBrowser/", "Samsung Internet"},
		{"Edg/", "Edge"},
		{"EdgA/", "Edge"},
		{"EdgiOS/", "Edge"},
		{"OPR/", "Opera"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"Chrome/", "Chrome"},
		{"CriOS/", "Chrome"},
		{"Safari/", "Safari"},
	} {
		if strings.Contains(userAgent, known[0]) {
			browser = known[1]
			break
		}
	}
	switch {
	case browser == "" && system == "":
		return unknownBrowser
	case system == "":
		return browser
	case browser == "":
		return system
	}
	return browser + ", " + system
}
