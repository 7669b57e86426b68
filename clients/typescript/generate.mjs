// Makes src/*.gen.* of the OpenAPI documents: types of all calls, the codes of problems, and the calls that take an Idempotency-Key.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import { parse } from "yaml";

const documents = {
  api: new URL("../../internal/api/openapi.yaml", import.meta.url),
  operators: new URL("../../internal/admin/openapi.yaml", import.meta.url),
};
for (const [name, url] of Object.entries(documents)) {
  await writeFile(new URL(`src/${name}.gen.d.ts`, import.meta.url), astToString(await openapiTS(url)));
}

const api = parse(await readFile(documents.api, "utf8"));
const keyed = [];
for (const [path, item] of Object.entries(api.paths)) {
  const parameters = item.post?.parameters ?? [];
  if (parameters.some((p) => p.$ref === "#/components/parameters/IdempotencyKey")) keyed.push(path);
}
const codes = api.components.schemas.ProblemCode["x-extensible-enum"];
const list = (values) => values.map((v) => `\n  ${JSON.stringify(v)},`).join("") + "\n";
await writeFile(
  new URL("src/document.gen.ts", import.meta.url),
  `/** The codes of problems that this version knows. A later release of the service may send others. */
export type KnownCode =${codes.map((c) => `\n  | ${JSON.stringify(c)}`).join("")};

/** The paths whose POST takes an Idempotency-Key, so that it can be repeated. */
export const keyedPaths: ReadonlySet<string> = new Set([${list(keyed)}]);
`,
);
