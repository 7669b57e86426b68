// Package docs has the documents that a running service shows to integrators.
package docs

import "embed"

// Files has the documents as Markdown, and the samples of the reference.
//
//go:embed api-guide.md mobile-apps.md versions.md samples/_reference
var Files embed.FS
