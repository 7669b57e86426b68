// Shows the OpenAPI document with Scalar. Nothing is loaded from elsewhere: no fonts, no proxy,
// no assistant, no telemetry.
import { createApiReference } from "./scalar-1.76.0/standalone.esm.js"

const response = await fetch("/openapi.json", { credentials: "same-origin" })
const api = await response.json()

// Links to an operation have its operationId: /docs#login.
const slug = name => name.toLowerCase().replaceAll(" ", "-")
const wanted = location.hash.slice(1)
for (const item of Object.values(api.paths)) {
  for (const operation of Object.values(item)) {
    if (wanted && operation.operationId === wanted) {
      history.replaceState(null, "", `#tag/${slug(operation.tags[0])}/${wanted}`)
    }
  }
}

document.getElementById("reference").replaceChildren()
createApiReference("#reference", {
  content: api,
  servers: [{ url: location.origin, description: "This server." }],
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  showDeveloperTools: "never",
  withDefaultFonts: false,
  persistAuth: false,
  // Samples that were not run are not shown: only those of the document are.
  hiddenClients: true,
  documentDownloadType: "none",
  hideClientButton: true,
  defaultOpenAllTags: false,
  generateTagSlug: tag => slug(tag.name),
  generateOperationSlug: operation => operation.operationId,
})
