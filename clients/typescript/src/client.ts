import createClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod, RequiredKeysOf } from "openapi-typescript-helpers";

import type { components, paths } from "./api.gen.js";
import { problemOf, SignedOutError, TouchlineError } from "./problem.js";
import { Session } from "./session.js";
import { memoryStorage, type Storage } from "./storage.js";
import { readEvents } from "./stream.js";
import { addKey, growingWait, type RetryOptions, sleep, Transport } from "./transport.js";
import { send as sendUpload, type UploadOptions } from "./upload.js";

type Schemas = components["schemas"];

/** Options of a client. */
export interface Options {
  /** The address of the service, such as `https://touchline.example`. */
  baseUrl: string;
  /** Where tokens are kept; without it they end with the process. */
  storage?: Storage;
  /** The prefix of the keys in the storage. Give each of several accounts its name. Default `touchline`. */
  name?: string;
  /** Called when the session has ended. Show the sign-in. */
  onSignedOut?: (reason: string) => void;
  /** Another `fetch`, such as `expo/fetch`, which can read streams in React Native. */
  fetch?: typeof fetch;
  retry?: RetryOptions;
}

/** What a call of a path returns when it succeeds. */
export type Result<P extends keyof paths, M extends HttpMethod, Init = object> = paths[P] extends { [K in M]: infer O }
  ? O extends Record<string | number, unknown>
    ? Extract<FetchResponse<O, Init, MediaType>, { data: unknown }>["data"]
    : never
  : never;

// A call whose parameters are all optional needs no second argument.
type InitParam<Init> = RequiredKeysOf<Init> extends never ? [(Init & Record<string, unknown>)?] : [Init & Record<string, unknown>];

/** A call by method and path. It returns the body and throws a TouchlineError, a ConnectionError or a SignedOutError. */
export type Call<M extends HttpMethod> = <P extends PathsWithMethod<paths, M>, Init extends MaybeOptionalInit<paths[P], M>>(
  path: P,
  ...init: InitParam<Init>
) => Promise<Result<P, M, Init>>;

type Page<Item> = { items: Item[]; next_cursor: string | null };

type Body<P extends keyof paths> = paths[P] extends { get: { responses: { 200: { content: { "application/json": infer B } } } } } ? B : undefined;

/** The item of a list. */
export type Item<P extends keyof paths> = Body<P> extends Page<infer I> ? I : never;

/** The paths of lists. */
export type ListPath = { [P in keyof paths]: Body<P> extends Page<unknown> ? P : never }[keyof paths];

/** A notification, or the newest ones as they were after a connection that could not continue an earlier one. */
export type Live =
  | { type: "connected"; newest: Schemas["Notification"][] }
  | { type: "notification"; notification: Schemas["Notification"] };

// Calls without a session: a path under /auth does not name it, except these.
const signedInAuth = /^\/auth\/(sessions|passkeys(?!\/sign-in)|complete-profile|change-number)/;
const anonymous = /^\/api\/(coaches|notice)(\/|$)/;

/** A client of one account. */
export class Touchline {
  readonly session: Session;
  readonly #transport: Transport;
  readonly #api;
  readonly #baseUrl: string;

  constructor(options: Options) {
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.#transport = new Transport(options);
    const name = options.name ?? "touchline";
    this.session = new Session(this.#baseUrl, this.#transport, options.storage ?? memoryStorage(), name, options.onSignedOut ?? (() => {}));
    this.#api = createClient<paths>({ baseUrl: this.#baseUrl, credentials: "omit", fetch: (request) => this.#send(request) });
    this.#api.use({
      onRequest: ({ request, schemaPath }) => addKey(request, schemaPath),
      onResponse: async ({ response }) => {
        if (!response.ok) throw await problemOf(response);
      },
    });
  }

  readonly get: Call<"get"> = (path, ...init) => this.#call("GET", path, init);
  readonly post: Call<"post"> = (path, ...init) => this.#call("POST", path, init);
  readonly put: Call<"put"> = (path, ...init) => this.#call("PUT", path, init);
  readonly patch: Call<"patch"> = (path, ...init) => this.#call("PATCH", path, init);
  readonly delete: Call<"delete"> = (path, ...init) => this.#call("DELETE", path, init);

  /** Every item of a list, page after page: `for await (const player of touchline.all("/api/players"))`. */
  async *all<P extends ListPath>(path: P, init: { params?: object; signal?: AbortSignal } = {}): AsyncGenerator<Item<P>> {
    let cursor: string | undefined;
    do {
      const { query, ...params } = (init.params ?? {}) as { query?: object };
      const page = await this.#call<Page<Item<P>>>("GET", path, [{ ...init, params: { ...params, query: { ...query, ...(cursor && { cursor }) } } }]);
      yield* page.items;
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
  }

  /**
   * The notifications of the account as they arrive. After the first connection the newest ones are read, so that none is missed
   * between. A lost connection is made again with the id of the last notification, which continues exactly there. It ends when the
   * signal is aborted, and throws a SignedOutError when the session has ended.
   */
  async *live(options: { signal?: AbortSignal; lastEventId?: string } = {}): AsyncGenerator<Live> {
    let last = options.lastEventId;
    let failures = 0;
    while (!options.signal?.aborted) {
      try {
        const response = await this.#connect(last, options.signal);
        const known = new Set<string>();
        if (!last) {
          const newest = (await this.get("/api/notifications", { params: { query: { limit: 50 } } })).items;
          for (const n of newest) known.add(n.id);
          last = newest[0]?.id;
          yield { type: "connected", newest };
        }
        failures = 0;
        for await (const event of readEvents(response)) {
          if (event.event !== "notification") continue;
          const notification = JSON.parse(event.data) as Schemas["Notification"];
          last = event.id ?? notification.id;
          if (!known.has(notification.id)) yield { type: "notification", notification };
        }
      } catch (error) {
        if (options.signal?.aborted) return;
        if (error instanceof SignedOutError) throw error;
        if (error instanceof TouchlineError && error.status < 500 && error.status !== 429) throw error;
        failures++;
        const seconds = error instanceof TouchlineError ? (error.retryAfter ?? 0) : 0;
        await sleep(Math.max(growingWait(failures), seconds * 1000), options.signal).catch(() => {});
      }
    }
  }

  /** Uploads a document of the coach. `onProgress` is called with the part that was sent, from 0 to 1. */
  async uploadDocument(fields: Omit<Schemas["UploadDocumentRequest"], "file">, file: Blob, options: UploadOptions = {}): Promise<Schemas["Document"]> {
    return await this.#upload("POST", "/api/coach/documents", { ...fields, file }, options);
  }

  /** Replaces the file of a document. */
  async replaceDocument(documentId: string, file: Blob, options: UploadOptions = {}): Promise<Schemas["Document"]> {
    return await this.#upload("PUT", `/api/coach/documents/${documentId}/content`, { file }, options);
  }

  async #upload(method: string, path: string, fields: Record<string, unknown>, options: UploadOptions): Promise<Schemas["Document"]> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined) form.append(name, value as string | Blob);
    }
    const headers: Record<string, string> = method === "POST" ? { "Idempotency-Key": crypto.randomUUID() } : {};
    const request = new Request(this.#baseUrl + path, { method, headers, credentials: "omit", signal: options.signal ?? null });
    const response = await this.session.authorized(request, (r) => sendUpload(this.#transport, r, form, options));
    if (!response.ok) throw await problemOf(response);
    return (await response.json()) as Schemas["Document"];
  }

  async #connect(last: string | undefined, signal: AbortSignal | undefined): Promise<Response> {
    const request = new Request(`${this.#baseUrl}/api/notifications/stream`, {
      headers: { Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) },
      credentials: "omit",
      signal: signal ?? null,
    });
    const response = await this.session.authorized(request, (r) => this.#transport.once(r));
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  async #send(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const needsSession = pathname.startsWith("/auth/") ? signedInAuth.test(pathname) : pathname.startsWith("/api/") && !anonymous.test(pathname);
    const send = (r: Request) => this.#transport.send(r);
    return needsSession ? await this.session.authorized(request, send) : await send(request);
  }

  async #call<T>(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, init: unknown[]): Promise<T> {
    const call = this.#api[method] as (path: string, ...init: unknown[]) => Promise<{ data: T }>;
    return (await call(path, ...init)).data;
  }
}
