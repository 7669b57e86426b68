// Starts a service for development, with an operators' listener and an empty data folder.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const binary = process.env.SERVE_PROGRAM;

export async function startService(more = {}) {
  if (!binary) throw new Error("SERVE_PROGRAM names the program: go build -o touchline ./cmd/touchline");
  const folder = mkdtempSync(join(tmpdir(), "touchline-client-"));
  const settings = {
    TOUCHLINE_ADDR: "127.0.0.1:0",
    TOUCHLINE_ADMIN_ADDR: "127.0.0.1:0",
    TOUCHLINE_DATA_DIR: join(folder, "data"),
    TOUCHLINE_WEBHOOK_NETWORKS: "127.0.0.1",
    ...more,
  };
  const env = { ...process.env, ...settings };
  const server = spawn(binary, ["serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface(server.stdout)[Symbol.asyncIterator]();
  const next = async (pattern) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error("the service did not start");
      const found = pattern.exec(value);
      if (found) return found[1];
    }
  };
  const url = await next(/^Touchline answers at (\S+)/);
  const operatorsUrl = await next(/operators' API answers at (\S+)/);
  server.stdout.resume();
  const used = new Set(); // ids of messages whose code was returned
  return {
    ahead: 0, // milliseconds that the clock of the service is ahead
    url,
    operatorsUrl,
    program: binary,
    env,
    token: (scope) => execFileSync(binary, ["admin", "token", "create", "--name", scope, "--scopes", scope], { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim(),
    // code waits for the next OTP that arrives at a number. It returns the code of a message once, because a number that signs in
    // again has the earlier message, too.
    async code(number) {
      for (const end = Date.now() + 10_000; Date.now() < end; await new Promise((wait) => setTimeout(wait, 50))) {
        const response = await fetch(`${url}/dev/messages?number=${encodeURIComponent(number)}`);
        const message = (await response.json()).items.find((m) => m.code && !used.has(m.message_id));
        if (message) {
          used.add(message.message_id);
          return message.code;
        }
      }
      throw new Error(`no code arrived at ${number}`);
    },
    async advance(duration) {
      const response = await fetch(`${url}/dev/clock`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ advance: duration }) });
      this.ahead = Date.parse((await response.json()).now) - Date.now();
    },
    stop() {
      server.kill("SIGTERM");
      return new Promise((resolve) => server.once("exit", resolve)).then(() => rmSync(folder, { recursive: true, force: true }));
    },
  };
}
