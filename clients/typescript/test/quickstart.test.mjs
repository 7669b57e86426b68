// Installs the packed SDK in an empty folder and runs the quickstart of README.md against a service.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

import { transform } from "esbuild";
import ts from "typescript";

import { Touchline } from "../dist/index.js";
import { startService } from "./service.mjs";

const project = new URL("../", import.meta.url).pathname;
const source = readFileSync(join(project, "README.md"), "utf8").split("```ts\n")[1].split("```")[0];

test("quickstart", async () => {
  assert.ok(source.trimEnd().split("\n").length < 40, "the quickstart has fewer than 40 lines");
  const folder = mkdtempSync(join(tmpdir(), "touchline-quickstart-"));
  const service = await startService();
  let app;
  try {
    const packed = execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { cwd: project, encoding: "utf8" }).trim();
    writeFileSync(join(folder, "package.json"), `{"type": "module"}`);
    execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline", `./${packed}`], { cwd: folder });
    writeFileSync(join(folder, "quickstart.ts"), source);
    writeFileSync(join(folder, "quickstart.js"), (await transform(source, { loader: "ts", format: "esm" })).code);
    const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, types: ["node"], typeRoots: [join(project, "node_modules/@types")] };
    const faults = ts.getPreEmitDiagnostics(ts.createProgram([join(folder, "quickstart.ts")], options));
    assert.deepEqual(faults.map((f) => ts.flattenDiagnosticMessageText(f.messageText, "\n")), []);

    app = spawn("node", ["quickstart.js"], { cwd: folder, env: { ...process.env, URL: service.url }, stdio: ["pipe", "pipe", "inherit"] });
    let printed = "";
    app.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
    const wants = async (pattern) => {
      for (const end = Date.now() + 30_000; !pattern.test(printed); await new Promise((wait) => setTimeout(wait, 20))) {
        assert.ok(Date.now() < end, `${pattern} in: ${printed}`);
      }
    };
    const answer = async (question, text) => {
      await wants(question);
      app.stdin.write(`${text}\n`);
    };
    const number = "98123 71001";
    await answer(/mobile number: /, number);
    await wants(/code: /);
    await answer(/code: /, await service.code(number));
    await answer(/your name: /, "Asha Rao");

    const coach = new Touchline({ baseUrl: service.url });
    await coach.session.requestOtp({ mobile_number: number });
    await coach.session.signIn({ mobile_number: number, otp: await service.code(number) });
    const body = {
      student: { full_name: "Kabir Mehta", date_of_birth: "2014-04-30" },
      guardian: { name: "Meera Mehta", relationship: "mother", mobile_number: "98123 71002" },
    };
    await waitForProfile(coach);
    const { player_id } = await coach.post("/api/players/add", { body });
    const guardian = new Touchline({ baseUrl: service.url });
    await guardian.session.requestOtp({ mobile_number: "98123 71002", role: "guardian" });
    await guardian.session.signIn({ mobile_number: "98123 71002", role: "guardian", otp: await service.code("98123 71002") });
    await guardian.put("/api/approval/guardian-response", { body: { player_id, action: "approved" } });
    await wants(/Kabir Mehta approved pending/);
  } finally {
    app?.kill();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function waitForProfile(coach) {
  while (!(await coach.get("/api/me")).profile_complete) await new Promise((wait) => setTimeout(wait, 50));
}
