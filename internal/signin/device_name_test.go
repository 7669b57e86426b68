package signin

import "testing"

// TestDeviceName names browsers by what they send.
func TestDeviceName(t *testing.T) {
	t.Parallel()
	const iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
	const android = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
	for userAgent, want := range map[string]string{
		iPhone + "Version/18.5 Mobile/15E148 Safari/604.1":                                                      "Safari, iPhone",
		iPhone + "CriOS/138.0.7204.53 Mobile/15E148 Safari/604.1":                                               "Chrome, iPhone",
		iPhone + "FxiOS/140.0 Mobile/15E148 Safari/605.1.15":                                                    "Firefox, iPhone",
		iPhone + "Version/18.0 EdgiOS/137.0.3296.92 Mobile/15E148 Safari/604.1":                                 "Edge, iPhone",
		android + "Chrome/138.0.0.0 Mobile Safari/537.36":                                                       "Chrome, Android",
		android + "Chrome/138.0.0.0 Mobile Safari/537.36 EdgA/137.0.0.0":                                        "Edge, Android",
		android + "SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36":                                   "Samsung Internet, Android",
		"Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0":                                  "Firefox, Android",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/138.0.0.0 Safari/537.36 Edg/137.0": "Edge, Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.5 Safari/605.1.15":     "Safari, Mac",
		"": "Browser",
	} {
		if got := deviceName(userAgent); got != want {
			t.Errorf("%s: got %q, want %q", userAgent, got, want)
		}
	}
}
