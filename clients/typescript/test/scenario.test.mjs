// Runs clients/scenario.json, which every SDK passes, against a service.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import test from "node:test";

import { hasCode, SignedOutError, Touchline } from "../dist/index.js";
import { Sequences, TouchlineService, verifyWebhook, WebhookError } from "../dist/service.js";
import { startService } from "./service.mjs";

const root = new URL("../../../", import.meta.url);
const scenario = JSON.parse(readFileSync(new URL("clients/scenario.json", root), "utf8"));

// Network is a fetch that can lose a response and cut a stream, and counts the calls of each path.
class Network {
  calls = new Map();
  loseNext = false;
  streams = [];
  fetch = async (request) => {
    const { pathname } = new URL(request.url);
    this.calls.set(pathname, (this.calls.get(pathname) ?? 0) + 1);
    if (pathname === "/api/notifications/stream") {
      const cut = new AbortController();
      this.streams.push(cut);
      return await fetch(request, { signal: AbortSignal.any([request.signal, cut.signal]) });
    }
    const response = await fetch(request);
    if (this.loseNext && pathname === "/api/players/add") {
      this.loseNext = false;
      await response.arrayBuffer();
      throw new TypeError("the response was lost");
    }
    return response;
  };
}

test("scenario", async (t) => {
  const service = await startService();
  const stop = new AbortController();
  const clients = {};
  const networks = {};
  const live = {};
  const received = [];
  let player;
  let receiver;
  let secret = "";

  const steps = {
    async webhook() {
      receiver = createServer((request, response) => {
        let body = "";
        request.on("data", (part) => (body += part));
        request.on("end", async () => {
          try {
            received.push(await verifyWebhook(secret, request.headers, body, { now: Date.now() + service.ahead }));
            response.writeHead(204).end();
          } catch {
            response.writeHead(401).end();
          }
        });
      });
      await new Promise((listening) => receiver.listen(0, "127.0.0.1", listening));
      const response = await fetch(`${service.operatorsUrl}/api/admin/webhooks`, {
        method: "POST",
        headers: { Authorization: `Bearer ${service.token("webhooks")}`, "Content-Type": "application/json" },
        body: JSON.stringify({ url: `http://127.0.0.1:${receiver.address().port}/`, description: "scenario" }),
      });
      assert.equal(response.status, 201);
      ({ secret } = await response.json());
    },
    async sign_in({ as, role, mobile_number }) {
      networks[as] = new Network();
      clients[as] = new Touchline({ baseUrl: service.url, fetch: networks[as].fetch });
      await clients[as].session.requestOtp({ mobile_number, role });
      const tokens = await clients[as].session.signIn({ mobile_number, role, otp: await service.code(mobile_number) });
      assert.equal(tokens.account.role, role);
      assert.equal((await clients[as].get("/api/me")).account.role, role);
    },
    async complete_profile({ as, body }) {
      await clients[as].post("/auth/complete-profile", { body });
    },
    async add_player({ as, body, lose_first_response, want }) {
      networks[as].loseNext = lose_first_response;
      player = (await clients[as].post("/api/players/add", { body })).player_id;
      assert.equal(networks[as].calls.get("/api/players/add"), 2);
      const players = [];
      for await (const p of clients[as].all("/api/players")) players.push(p.player_id);
      assert.deepEqual(players, [player]);
      assert.equal(players.length, want.players);
    },
    async follow({ as }) {
      live[as] = clients[as].live({ signal: stop.signal });
      assert.equal((await live[as].next()).value.type, "connected");
    },
    async decide({ as, action }) {
      const items = (await clients[as].get("/api/me/players")).items;
      assert.equal(items.length, 1);
      const { player_id, request_id } = items[0];
      const body = { player_id, action, ...(request_id && { request_id }) };
      await clients[as].put(`/api/approval/${as}-response`, { body });
    },
    async want_notification({ as, type }) {
      const { value } = await live[as].next();
      assert.equal(value.notification.type, type);
    },
    async cut_stream({ as }) {
      networks[as].streams.at(-1).abort();
    },
    async refresh({ as, advance, calls, want }) {
      await service.advance(advance);
      await Promise.all(Array.from({ length: calls }, () => clients[as].get("/api/me")));
      assert.equal(networks[as].calls.get("/auth/refresh"), want.refreshes);
    },
    async attendance({ as, batch, mark }) {
      const coach = clients[as];
      const { batch_id } = await coach.post("/api/batches", { body: { name: batch } });
      await coach.put("/api/batches/{batch_id}/players/{player_id}", { params: { path: { batch_id, player_id: player } } });
      const marked_at = new Date().toISOString();
      const zone = (await coach.get("/api/coach/profile")).time_zone;
      const date = new Intl.DateTimeFormat("en-CA", { timeZone: zone }).format(new Date());
      const send = () =>
        coach.patch("/api/batches/{batch_id}/attendance/{date}", {
          params: { path: { batch_id, date } },
          body: { marks: [{ player_id: player, mark, marked_at }] },
        });
      await send();
      const sheet = await send();
      assert.deepEqual(sheet.marks.map((m) => m.mark), [mark]);
    },
    async pages({ as, batches, limit, want }) {
      for (const name of batches) await clients[as].post("/api/batches", { body: { name } });
      const names = new Set();
      for await (const b of clients[as].all("/api/batches", { params: { query: { limit } } })) names.add(b.name);
      assert.equal(names.size, want.items);
    },
    async upload({ as, file, fields }) {
      const parts = [];
      const document = await clients[as].uploadDocument(fields, new Blob([readFileSync(new URL(file, root))]), { onProgress: (part) => parts.push(part) });
      assert.equal(document.media_type, "application/pdf");
      assert.equal(parts[0], 0);
      assert.equal(parts.at(-1), 1);
    },
    async problem({ as, body, want }) {
      await assert.rejects(clients[as].post("/api/players/add", { body }), (error) => {
        assert.ok(hasCode(error, want.code));
        return error.problem.errors.some((e) => e.pointer === want.pointer);
      });
    },
    async feed({ want }) {
      const client = new TouchlineService({ baseUrl: service.operatorsUrl, token: service.token("availability") });
      const done = new AbortController();
      const types = [];
      const saved = [];
      const cursor = { load: () => "", save: (c) => void saved.push(c) };
      const handle = (changes) => {
        types.push(...changes.map((c) => c.type));
        if (types.length >= want.types.length) done.abort();
      };
      await client.follow({ cursor, handle, signal: done.signal });
      assert.deepEqual(types, want.types);
      assert.equal(saved.length > 0, true);
      const availability = await client.availability([player]);
      assert.equal(availability.get(player).guardian_app_enabled, false);
    },
    async want_webhooks({ want }) {
      const until = Date.now() + 30_000;
      while (received.length < want.types.length && Date.now() < until) await new Promise((r) => setTimeout(r, 50));
      assert.deepEqual(received.map((e) => e.type), want.types);
      const sequences = new Sequences();
      assert.deepEqual(received.map((e) => sequences.check(e.data)), received.map(() => "next"));
      assert.equal(sequences.check(received[0].data), "old");
      await assert.rejects(verifyWebhook(secret, { "webhook-id": "msg_1", "webhook-timestamp": `${Math.floor(Date.now() / 1000)}`, "webhook-signature": "v1,AAAA" }, "{}"), WebhookError);
    },
    async sign_out({ as }) {
      await clients[as].session.signOut();
      await assert.rejects(clients[as].get("/api/me"), SignedOutError);
    },
  };

  try {
    for (const step of scenario.steps) {
      await t.test([step.step, step.as, step.action ?? step.type].filter(Boolean).join(" "), () => steps[step.step](step));
    }
  } finally {
    stop.abort();
    receiver?.close();
    await service.stop();
  }
});
