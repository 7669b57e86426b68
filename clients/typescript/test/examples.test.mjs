// Runs the example of a Node service: it opens a feature with the approval and closes it with the revocation.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import test from "node:test";

import { Touchline } from "../dist/index.js";
import { startService } from "./service.mjs";

test("chat gateway", async () => {
  const service = await startService();
  const example = spawn(process.execPath, [new URL("../examples/chat-gateway.mjs", import.meta.url).pathname, "0"], {
    env: { ...process.env, OPERATORS_URL: service.operatorsUrl, TOKEN: service.token("availability") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const port = await new Promise((resolve) => example.stdout.once("data", (text) => resolve(/\d+/.exec(text)[0])));
    const signIn = async (mobile_number, role) => {
      const client = new Touchline({ baseUrl: service.url });
      await client.session.requestOtp({ mobile_number, role });
      await client.session.signIn({ mobile_number, role, otp: await service.code(mobile_number) });
      return client;
    };
    const coach = await signIn("98123 72001", "coach");
    await coach.post("/auth/complete-profile", { body: { name: "Asha Rao", bio: "I coach.", experience_years: 1, sports: ["hockey"] } });
    const { player_id } = await coach.post("/api/players/add", {
      body: {
        student: { full_name: "Kabir Mehta", date_of_birth: "2014-04-30" },
        guardian: { name: "Meera Mehta", relationship: "mother", mobile_number: "98123 72002" },
      },
    });
    const status = async () => (await fetch(`http://127.0.0.1:${port}/messages/${player_id}/guardian`)).status;
    const becomes = async (want) => {
      for (const end = Date.now() + 30_000; (await status()) !== want; await new Promise((wait) => setTimeout(wait, 50))) {
        assert.ok(Date.now() < end, `the gateway answers ${want}`);
      }
    };
    await becomes(403);
    const guardian = await signIn("98123 72002", "guardian");
    await guardian.put("/api/approval/guardian-response", { body: { player_id, action: "approved" } });
    await becomes(200);
    await guardian.put("/api/approval/guardian-response", { body: { player_id, action: "revoked" } });
    await becomes(403);
  } finally {
    example.kill();
    await service.stop();
  }
});
