// Package docs has the documents that a running service shows to integrators.
package docs

import "embed"

// Files has the documents as Markdown.
//
//go:embed api-guide.md mobile-apps.md versions.md
var Files embed.FS
