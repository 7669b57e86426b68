package config

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// off is how a setting that names something is written where there is nothing.
const off = "off"

// BuiltIn is the TIERS that names no file.
const BuiltIn = "built-in"

func (c *Config) checkAdminAddr() []string {
	if c.AdminAddr == off {
		return nil
	}
	if problem := checkAddr(c.AdminAddr); problem != "" {
		return []string{problem + ", or off"}
	}
	if _, port, _ := net.SplitHostPort(c.AdminAddr); c.AdminAddr == c.Addr && port != "0" {
		return []string{"must not be ADDR: the operators have a listener of their own"}
	}
	return nil
}

// checkFiles judges the form alone: whether the store is there shows at start.
func checkFiles(text string) string {
	scheme, rest, _ := strings.Cut(text, ":")
	switch scheme {
	case "file":
		return checkPath(rest)
	case "s3":
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Opaque != "" || u.Fragment != "" {
			return "must name a bucket: s3://<key>:<secret>@<bucket>/<prefix>?endpoint=<url>&region=<region>"
		}
		if u.Port() != "" {
			return "after s3:// comes the bucket; the server goes into endpoint=https://host:port"
		}
		for name, values := range u.Query() {
			if name != "endpoint" && name != "region" {
				return fmt.Sprintf("knows endpoint and region, not %q", name)
			}
			if name == "endpoint" {
				if e, err := url.Parse(values[0]); err != nil || e.Host == "" || e.Scheme != "http" && e.Scheme != "https" {
					return "endpoint must be an http or https address"
				}
			}
		}
		return ""
	default:
		return "must be file:<path> or s3://…"
	}
}

func checkClamAV(text string) string {
	kind, rest, _ := strings.Cut(text, ":")
	switch {
	case text == off:
		return ""
	case kind == "unix" && rest != "":
		return ""
	case kind == "tcp" && checkAddr(rest) == "":
		return ""
	default:
		return "must be off, unix:<path> or tcp:<host>:<port>"
	}
}

func checkTiers(path string) string {
	if path == BuiltIn {
		return ""
	}
	return checkPath(path)
}

// MessagesByTier says that nobody chose MESSAGES_PER_COACH: what a coach may send
// in 24 h is the tier's to say.
func (c *Config) MessagesByTier() bool {
	s, _ := find("MESSAGES_PER_COACH")
	return !c.isSet(s.key) && strconv.Itoa(c.MessagesPerCoach) == s.text
}

// FilesChosen says whether somebody chose the file store: where nobody did, it is
// a folder in DATA_DIR.
func (c *Config) FilesChosen() bool { return c.isSet("FILES") || c.Files != c.filesByDefault() }

func (c *Config) filesByDefault() SecretURL {
	return SecretURL("file:" + filepath.Join(c.DataDir, "files"))
}

// AdminOn says whether the operators have a listener.
func (c *Config) AdminOn() bool { return c.AdminAddr != off && c.AdminAddr != "" }

// UploadDir is where uploads wait on disk until they are kept: on the machine
// itself, whatever FILES is.
func (c *Config) UploadDir() string { return filepath.Join(c.DataDir, "uploads") }
