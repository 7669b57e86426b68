package config

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

// off is the value of an optional setting that is not used.
const off = "off"

// BuiltIn is the value of TIERS, NOTICE, TEXTS and NAMES_REFUSED that names no file.
const BuiltIn = "built-in"

func (c *Config) checkAdminAddr() []string {
	if c.AdminAddr == off {
		return nil
	}
	if message := checkAddr(c.AdminAddr); message != "" {
		return []string{message + ", or off"}
	}
	if _, port, _ := net.SplitHostPort(c.AdminAddr); c.AdminAddr == c.Addr && port != "0" {
		return []string{"must not be ADDR: the operators' listener needs another address"}
	}
	return nil
}

// checkFiles checks only the syntax: the start checks whether the storage is reachable.
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
			return "after s3:// comes the bucket; write the server as endpoint=https://host:port"
		}
		for name, values := range u.Query() {
			if name != "endpoint" && name != "region" {
				return fmt.Sprintf("accepts endpoint and region, not %q", name)
			}
			if name == "endpoint" {
				if e, err := url.Parse(values[0]); err != nil || e.Host == "" || strings.Trim(e.Path, "/") != "" || e.Scheme != "http" && e.Scheme != "https" {
					return "endpoint must be an http or https URL without a path"
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

// FilesSet reports whether FILES is set. If not, files are in a folder in DATA_DIR.
func (c *Config) FilesSet() bool { return c.isSet("FILES") || c.Files != c.defaultFiles() }

func (c *Config) defaultFiles() SecretURL {
	return SecretURL("file:" + filepath.Join(c.DataDir, "files"))
}

// AdminOn reports whether the operators' listener is on.
func (c *Config) AdminOn() bool { return c.AdminAddr != off && c.AdminAddr != "" }

// UploadDir is the local folder for uploads while they are checked, whatever FILES is.
func (c *Config) UploadDir() string { return filepath.Join(c.DataDir, "uploads") }
