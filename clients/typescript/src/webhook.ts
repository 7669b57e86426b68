import type { webhooks } from "./operators.gen.js";

type Bodies = { [T in keyof webhooks]: webhooks[T] extends { post: { requestBody: { content: { "application/json": infer B } } } } ? B : never };

/** A verified event, to be told apart by `type`. A later release may send other types: ignore them. */
export type WebhookEvent = Bodies[keyof webhooks] & { id: string };

/** A message that does not come from the service. Answer it with 401. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

/**
 * Verifies a message by the Standard Webhooks specification and returns its event. `body` is the text as it arrived. During a
 * rotation of the secret give both. `tolerance` is how many seconds the timestamp may be off; default 300.
 */
export async function verifyWebhook(
  secrets: string | readonly string[],
  headers: Headers | Record<string, string | string[] | undefined>,
  body: string,
  options: { tolerance?: number; now?: number } = {},
): Promise<WebhookEvent> {
  const get = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    return typeof value === "string" ? value : "";
  };
  const id = get("webhook-id");
  const timestamp = get("webhook-timestamp");
  const now = (options.now ?? Date.now()) / 1000;
  if (!id || !/^\d+$/.test(timestamp) || Math.abs(now - Number(timestamp)) > (options.tolerance ?? 300)) {
    throw new WebhookError("the message is not of the last minutes");
  }
  const encoder = new TextEncoder();
  const signed = encoder.encode(`${id}.${timestamp}.${body}`);
  const signatures = get("webhook-signature").split(" ").filter((s) => s.startsWith("v1,"));
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    const key = await crypto.subtle.importKey("raw", decode(secret.replace(/^whsec_/, "")), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of signatures) {
      if (await crypto.subtle.verify("HMAC", key, decode(signature.slice(3)), signed)) return { ...JSON.parse(body), id };
    }
  }
  throw new WebhookError("the signature is wrong");
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  } catch {
    throw new WebhookError("the signature is not base64");
  }
}

/**
 * Knows the newest sequence of each player. `check` returns `next` for a change to apply, `old` for one that was seen, and `gap` if
 * changes between are missing: read the availability of the player then.
 */
export class Sequences {
  readonly #newest: Map<string, number>;

  /** newest are the sequences of the availability that you hold. */
  constructor(newest: Iterable<[playerId: string, sequence: number]> = []) {
    this.#newest = new Map(newest);
  }

  check(change: { player_id: string; sequence: number }): "next" | "old" | "gap" {
    const before = this.#newest.get(change.player_id) ?? 0;
    if (change.sequence <= before) return "old";
    this.#newest.set(change.player_id, change.sequence);
    return change.sequence === before + 1 ? "next" : "gap";
  }
}
