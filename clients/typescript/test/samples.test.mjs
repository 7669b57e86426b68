// Checks the types of the TypeScript samples of the reference at /docs, and runs them against a service.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";

import { build } from "esbuild";
import ts from "typescript";

import { startService } from "./service.mjs";

const project = new URL("../", import.meta.url).pathname;
const repository = join(project, "../..");
const samples = join(repository, "docs/samples/_reference/samples.ts");

test("samples of the reference", async () => {
  const options = {
    strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: ["node"], typeRoots: [join(project, "node_modules/@types")], paths: { "@touchline/client": [join(project, "dist/index.d.ts")] },
  };
  const faults = ts.getPreEmitDiagnostics(ts.createProgram([samples], options));
  assert.deepEqual(faults.map((f) => ts.flattenDiagnosticMessageText(f.messageText, "\n")), []);

  const folder = mkdtempSync(join(tmpdir(), "touchline-samples-"));
  const service = await startService({ TOUCHLINE_KYC: "on" });
  try {
    const outfile = join(folder, "samples.mjs");
    await build({ entryPoints: [samples], outfile, bundle: true, platform: "node", format: "esm", alias: { "@touchline/client": join(project, "dist/index.js") } });
    const env = { ...service.env, URL: service.url, PROGRAM: service.program };
    const { stdout } = await promisify(execFile)("node", [outfile], { cwd: repository, env });
    assert.match(stdout, /every sample ran/);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
