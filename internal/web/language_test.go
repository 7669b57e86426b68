package web

import "testing"

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/coach/players?q=a%20b": "/coach/players?q=a%20b",
		"/":                      "/",
		"":                       "/",
		"coach":                  "/",
		"//evil.example":         "/",
		"///evil.example":        "/",
		`/\evil.example`:         "/",
		"https://evil.example":   "/",
		"javascript:alert(1)":    "/",
		"/\t/evil.example":       "/",
		"/a\r\nSet-Cookie: a=b":  "/",
		"/a\x00b":                "/",
		"/a\x0bb":                "/",
		"/a\x7fb":                "/",
	} {
		if got := LocalPath(path); got != want {
			t.Errorf("LocalPath(%q) is %q, want %q", path, got, want)
		}
	}
}
