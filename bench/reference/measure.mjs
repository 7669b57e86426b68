// Measures how long a page takes on an emulated line, in Chromium's headless shell without a cache:
//
//   node --experimental-websocket bench/reference/measure.mjs http://127.0.0.1:8080/docs 8.1 165 4
//
// The arguments are the page, the line's Mbit/s, its round trip in ms, the number of visits, and a selector of what must be visible.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [page, mbit, latency, visits, selector = "#reference h1"] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "measure-"));
const browser = spawn("chromium-headless-shell", ["--no-sandbox", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"], {
  stdio: ["ignore", "ignore", "pipe"],
});
const port = await new Promise((found) => {
  let printed = "";
  browser.stderr.on("data", (text) => {
    printed += text;
    const address = /ws:\/\/[^:]+:(\d+)/.exec(printed);
    if (address) found(address[1]);
  });
});
const tab = await (await fetch(`http://127.0.0.1:${port}/json/new?about:blank`, { method: "PUT" })).json();
const socket = new WebSocket(tab.webSocketDebuggerUrl);
await new Promise((open) => (socket.onopen = open));

const answers = new Map();
let bytes = 0;
let requests = 0;
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.id) answers.get(message.id)(message.result);
  if (message.method === "Network.loadingFinished") {
    bytes += message.params.encodedDataLength;
    requests++;
  }
};
const send = (method, params = {}) =>
  new Promise((answer) => {
    const id = answers.size + 1;
    answers.set(id, answer);
    socket.send(JSON.stringify({ id, method, params }));
  });
const evaluate = async (expression) => JSON.parse((await send("Runtime.evaluate", { expression })).result?.value ?? "{}");

await send("Network.enable");
await send("Page.enable");
await send("Performance.enable", { timeDomain: "threadTicks" });
await send("Network.setCacheDisabled", { cacheDisabled: true });
await send("Emulation.setDeviceMetricsOverride", { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false });
const throughput = (mbit * 1e6) / 8;
await send("Network.emulateNetworkConditions", { offline: false, latency: Number(latency), downloadThroughput: throughput, uploadThroughput: throughput });
await send("Page.addScriptToEvaluateOnNewDocument", {
  source: `new MutationObserver(() => {
    if (!window.shown && document.querySelector(${JSON.stringify(selector)})?.checkVisibility()) requestAnimationFrame(() => (window.shown ??= performance.now()))
  }).observe(document, { childList: true, subtree: true })`,
});
for (let visit = 0; visit < Number(visits); visit++) {
  bytes = requests = 0;
  await send("Page.navigate", { url: page });
  let times = {};
  while (!times.shown) {
    await new Promise((wait) => setTimeout(wait, 300));
    times = await evaluate(`JSON.stringify({
      shown: window.shown,
      paint: performance.getEntriesByType("paint")[0]?.startTime,
      loaded: Math.max(0, ...performance.getEntriesByType("resource").map((r) => r.responseEnd)),
    })`);
  }
  const { metrics } = await send("Performance.getMetrics");
  const processor = metrics.find((m) => m.name === "TaskDuration").value;
  const ms = (time) => `${Math.round(time)} ms`;
  console.log(`shown ${ms(times.shown)}, first paint ${ms(times.paint)}, loaded ${ms(times.loaded)}, processor ${ms(processor * 1000)}, ${bytes} bytes in ${requests} requests`);
}
browser.kill();
rmSync(profile, { recursive: true, force: true });
process.exit();
