package config_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
)

var update = flag.Bool("update", false, "rewrite the golden files and docs/settings.md")

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test ./internal/platform/config -update rewrites it. Got:\n%s", path, got)
	}
}

// awkward returns settings from every source, with secrets.
func awkward(t *testing.T) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t,
		[]string{"--addr=:8443", "--otp-validity", "90s"},
		env("MASTER_KEY_FILE="+file, "DATABASE_URL=postgres://touchline:hunter2@db.example:5432/t?sslpassword=hunter2",
			"SMS=http:https://me:hunter2@gw.example/key/hunter2?token=hunter2", "TEST_NUMBERS=+919900000001=123456@2027-01-31",
			"PUBLIC_URL=https://t.example", "TRUSTED_PROXIES=10.1.2.3/8", "RESEND_AFTER=90m", "OTP_RESEND_AFTER=60s", "TLS_AUTOCERT_DOMAINS=off"))
	return c
}

func TestPrintGolden(t *testing.T) {
	for name, c := range map[string]*config.Config{"defaults": config.Defaults(), "awkward": awkward(t)} {
		var out bytes.Buffer
		if err := c.Print(&out); err != nil {
			t.Fatal(err)
		}
		got := out.Bytes()
		if dir := filepath.Dir(c.MasterKeyPath()); dir != c.DataDir { // a temporary folder
			got = bytes.ReplaceAll(got, []byte(dir), []byte("/run/secrets"))
			got = regexp.MustCompile(` {2,}`).ReplaceAll(got, []byte("  ")) // the width of a column depends on the length of dir
		}
		golden(t, filepath.Join("testdata", name+".txt"), got)
	}
}

func TestPrintJSON(t *testing.T) {
	var out bytes.Buffer
	if err := awkward(t).PrintJSON(&out); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]string{}
	for _, row := range rows {
		got[row["name"]] = row
	}
	for name, source := range map[string]string{
		"TOUCHLINE_ADDR": "flag", "TOUCHLINE_MASTER_KEY": "file", "TOUCHLINE_SMS": "environment", "TOUCHLINE_DATA_DIR": "default",
	} {
		if got[name]["source"] != source {
			t.Errorf("%s = %v, want source %s", name, got[name], source)
		}
	}
}

// TestEveryFieldIsASetting: every field has a help, is printed and is documented.
func TestEveryFieldIsASetting(t *testing.T) {
	var table, asJSON, usage bytes.Buffer
	c := config.Defaults()
	if c.Print(&table) != nil || c.PrintJSON(&asJSON) != nil || config.Usage(&usage) != nil {
		t.Fatal("printing")
	}
	settings := map[string]config.Setting{}
	for _, s := range config.Settings() {
		settings[s.Name] = s
	}
	typ := reflect.TypeFor[config.Config]()
	for i := range typ.NumField() {
		field := typ.Field(i)
		if field.Tag.Get("env") == "" { // Endpoints, and unexported fields
			continue
		}
		name := "TOUCHLINE_" + field.Tag.Get("env")
		s, ok := settings[name]
		delete(settings, name)
		switch {
		case !ok || s.Help == "" || s.Default == "":
			t.Errorf("%s: %+v", field.Name, s)
		case !strings.Contains(table.String(), name+" ") || !strings.Contains(asJSON.String(), `"`+name+`"`):
			t.Errorf("%s is not printed", name)
		case !strings.Contains(usage.String(), name):
			t.Errorf("%s is not in the usage", name)
		}
		if k := field.Type.Kind(); (k == reflect.Int || k == reflect.Int64 && field.Type.Name() == "Duration") && s.Limits == "" {
			t.Errorf("%s has no limits", name)
		}
	}
	if len(settings) > 0 {
		t.Errorf("settings without a field: %v", settings)
	}
}

// TestOutputMasksSecrets: no output shows a secret, valid or not.
func TestOutputMasksSecrets(t *testing.T) {
	const sentinel = "S3NT1NEL"
	key := base64.StdEncoding.EncodeToString([]byte(sentinel + sentinel + sentinel + sentinel))
	environs := [][]string{
		env("MASTER_KEY=" + key),
		env("MASTER_KEY=" + sentinel),
		env("DATABASE_URL=postgres://u:" + sentinel + "@h/d"),
		env("DATABASE_URL=postgres://h/d?password=" + sentinel),
		env("DATABASE_URL=postgres://u:" + sentinel + "@h:port/d"),
		env("DATABASE_URL=postgres://u:%zz" + sentinel + "@h/d"),
		env("DATABASE_URL=host=h password=" + sentinel),
		env("DATABASE_URL=mysql://u:" + sentinel + "@h/d"),
		env("SMS=http:https://" + sentinel + ":" + sentinel + "@h/" + sentinel + "?k=" + sentinel + "#" + sentinel),
		env("SMS=http:https://u:" + sentinel + "@h:port"),
		env("SMS=http://u:" + sentinel + "@h"),
		env("SMS=https://u:" + sentinel + "@h"),
		env("SMS=twilio:" + sentinel),
		env("SMS=twilio:https://AC:" + sentinel + "@h/?from=1,kannel:http://u:" + sentinel + "@h:1/" + sentinel + ",msg91:https://" + sentinel + "@h,http:https://u:" + sentinel + "@h/"),
		env("SMS=twilio:https://" + twilioSID + ":" + sentinel + "@h?from=15550006,kannel:http://u:" + sentinel + "@h:1/?reply_secret=" + sentinel + sentinel),
		env("SMS=" + sentinel),
		env("MAIL=smtps://u:" + sentinel + "@h?from=a@b.example&bounce_secret=" + sentinel + sentinel),
		env("MAIL=smtps://u:" + sentinel + "@h?from=a"),
		env("WHATSAPP_ACCOUNT=phone_id=1,token=" + sentinel + ",app_secret=" + sentinel + ",verify_token=" + sentinel),
		env("WHATSAPP_ACCOUNT=phone_id=1,token=" + sentinel),
		env("TEST_NUMBERS=+919812345678=" + sentinel + "@2027-01-31"),
		env("TEST_NUMBERS=" + sentinel),
		env("TEST_NUMBERS=+919812345678=" + sentinel + "@x"),
		env("TEST_NUMBERS=+919812345678=87654321@2027-01-31", "OTP_LENGTH=8"),
	}
	check := func(t *testing.T, out string) {
		t.Helper()
		for _, secret := range []string{sentinel, key, "87654321", "9812345678", fmt.Sprintf("%x", sentinel)} {
			if strings.Contains(strings.ToUpper(out), strings.ToUpper(secret)) {
				_, after, _ := strings.Cut(out, secret)
				t.Errorf("the output shows %s, before %.80s", secret, after)
			}
		}
	}
	for _, environ := range environs {
		c, err := config.Load(nil, environ)
		if err != nil {
			check(t, fmt.Sprintf("%v %+v %#v", err, err, err))
			continue
		}
		var out bytes.Buffer
		slog.New(slog.NewJSONHandler(&out, nil)).Info("settings", "config", c, "key", c.MasterKeyBase64, "sms", c.SMS)
		slog.New(slog.NewTextHandler(&out, nil)).Info("settings", "config", c, "database", c.DatabaseURL)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", *c)
			fmt.Fprintf(&out, verb+"\n", []any{c.MasterKeyBase64, c.DatabaseURL, c.SMS})
		}
		if c.Print(&out) != nil || c.PrintJSON(&out) != nil || json.NewEncoder(&out).Encode(c) != nil {
			t.Fatal("printing")
		}
		check(t, out.String())
	}
	for _, args := range [][]string{
		{"--master-key", sentinel},
		{"--master-key=" + sentinel},
		{sentinel},
		{"postgres://u:" + sentinel + "@h/d"},
		{"--postgres://u:" + sentinel + "@h/d"},
		{"TOUCHLINE_MASTER_KEY=" + sentinel},
		{"--database-ur", "postgres://u:" + sentinel + "@h/d"},
	} {
		_, err := config.Load(args, nil)
		check(t, err.Error())
	}
}

// TestSettingsDocument: docs/settings.md is generated from the settings.
func TestSettingsDocument(t *testing.T) {
	var out bytes.Buffer
	out.WriteString("# Settings\n\nEach setting is an environment variable and a flag: `TOUCHLINE_OTP_LENGTH=6` is `--otp-length=6`. `TOUCHLINE_MASTER_KEY` has\n" +
		"no flag, because a list of processes shows flags. A flag overrides a variable, and a variable overrides the default. An empty\n" +
		"value counts as not set. A secret can come from a file: set `TOUCHLINE_DATABASE_URL_FILE` to its path.\n" +
		"Switches are `on` or `off`, durations are written as `90s`, `15m` or `48h`, an empty list as `none`.\n" +
		"`touchline config` prints every setting with its value, default and source, and masks secrets.\n\n" +
		"The service does not start with an invalid setting or an unknown variable that begins with `TOUCHLINE_`. It prints every error.\n\n" +
		"| variable | default | accepted | meaning |\n|---|---|---|---|\n")
	for _, s := range config.Settings() {
		writeSetting(&out, s)
	}
	golden(t, filepath.Join("..", "..", "..", "docs", "settings.md"), out.Bytes())
}

func writeSetting(out *bytes.Buffer, s config.Setting) {
	name := "`" + s.Name + "`"
	if s.FileName != "" {
		name += ", `" + s.FileName + "`"
	}
	escape := strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace
	fmt.Fprintf(out, "| %s | %s | %s | %s |\n", name, escape(s.Default), escape(s.Limits), escape(s.Help))
}
