/** For services: the feed of changes, availability, and webhooks. It runs on the operators' listener with a service token. */
import createClient from "openapi-fetch";

import type { components, operations, paths } from "./operators.gen.js";
import { problemOf, TouchlineError } from "./problem.js";
import { growingWait, type RetryOptions, sleep, Transport } from "./transport.js";

export { ConnectionError, TouchlineError, type Problem } from "./problem.js";
export { Sequences, verifyWebhook, WebhookError, type WebhookEvent } from "./webhook.js";

type Schemas = components["schemas"];

/** A change of a player. It has states and ids, never names or numbers. */
export type Change = Schemas["Change"];
type ChangePage = operations["listChanges"]["responses"][200]["content"]["application/json"];
/** What a player's parties can use. */
export type Availability = operations["queryAvailability"]["responses"][200]["content"]["application/json"]["items"][number];

/** Keeps the place in the feed. Store it together with what the changes caused, or after it. */
export interface CursorStore {
  load(): string | undefined | Promise<string | undefined>;
  save(cursor: string): void | Promise<void>;
}

/** Options of a service's client. */
export interface ServiceOptions {
  /** The address of the operators' listener. */
  baseUrl: string;
  /** A token of `touchline admin token create --scopes availability`. */
  token: string;
  fetch?: typeof fetch;
  retry?: RetryOptions;
}

/** Options of a follower of the feed. */
export interface FollowOptions {
  cursor: CursorStore;
  /** Handles a page of changes. The place in the feed is stored after it has returned, so a page can come twice. */
  handle: (changes: Change[]) => void | Promise<void>;
  /** Called before the first change and when the cursor has expired: read the availability of all your players again. */
  onStart?: () => void | Promise<void>;
  signal?: AbortSignal;
}

/** A client of a service. */
export class TouchlineService {
  readonly #api;

  constructor(options: ServiceOptions) {
    const transport = new Transport(options);
    this.#api = createClient<paths>({
      baseUrl: options.baseUrl.replace(/\/+$/, ""),
      headers: { Authorization: `Bearer ${options.token}` },
      fetch: (request) => transport.send(request),
    });
    this.#api.use({
      onResponse: async ({ response }) => {
        if (!response.ok) throw await problemOf(response);
      },
    });
  }

  /** The availability of players, in calls of 200. Unknown and deleted players are left out. */
  async availability(playerIds: readonly string[]): Promise<Map<string, Availability>> {
    const found = new Map<string, Availability>();
    for (let i = 0; i < playerIds.length; i += 200) {
      const { data } = await this.#api.POST("/api/services/availability/query", { body: { player_ids: playerIds.slice(i, i + 200) } });
      for (const a of data!.items) found.set(a.player_id, a);
    }
    return found;
  }

  /** Follows the feed until the signal is aborted. Outages of the service only delay it. */
  async follow(options: FollowOptions): Promise<void> {
    const { signal } = options;
    let cursor = await options.cursor.load();
    if (cursor === undefined) cursor = await this.#start(options);
    let failures = 0;
    while (!signal?.aborted) {
      try {
        const query: { wait: number; cursor?: string } = { wait: 30, ...(cursor && { cursor }) };
        const { data }: { data?: ChangePage } = await this.#api.GET("/api/services/changes", { params: { query }, signal: signal ?? null });
        failures = 0;
        if (data!.items.length > 0) await options.handle(data!.items);
        if (data!.next_cursor !== cursor) await options.cursor.save((cursor = data!.next_cursor));
      } catch (error) {
        if (signal?.aborted) return;
        if (error instanceof TouchlineError && error.code === "cursor_expired") {
          cursor = await this.#start(options);
          continue;
        }
        if (error instanceof TouchlineError && error.status < 500 && error.status !== 429) throw error;
        failures++;
        await sleep(growingWait(failures), signal).catch(() => {});
      }
    }
  }

  // The changes before the start are in the availability that onStart reads.
  async #start(options: FollowOptions): Promise<string> {
    let cursor: string | undefined;
    for (;;) {
      const { data }: { data?: ChangePage } = await this.#api.GET("/api/services/changes", { params: { query: { limit: 100, ...(cursor && { cursor }) } } });
      cursor = data!.next_cursor;
      if (data!.items.length === 0) break;
    }
    await options.onStart?.();
    await options.cursor.save(cursor);
    return cursor;
  }
}
