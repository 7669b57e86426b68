import { keyedPaths } from "./document.gen.js";
import { ConnectionError, problemOf, retryAfter } from "./problem.js";

/** How calls are repeated. */
export interface RetryOptions {
  /** How often a call is sent at most, the first time included. Default 5. */
  attempts?: number;
  /** A longer Retry-After than this many seconds is an error for the app to show. Default 20. */
  longestWait?: number;
}

/** Sends requests, with retries. */
export class Transport {
  readonly #fetch: typeof fetch;
  readonly #attempts: number;
  readonly #longestWait: number;

  constructor(options: { fetch?: typeof fetch; retry?: RetryOptions }) {
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#attempts = options.retry?.attempts ?? 5;
    this.#longestWait = options.retry?.longestWait ?? 20;
  }

  /**
   * Sends a request until a response needs no repetition. Without a response, or with 5xx, it is repeated only if the request can
   * be repeated safely. 429 `rate_limited`, 503 and 409 `request_in_progress` are repeated after `Retry-After`.
   */
  async send(request: Request): Promise<Response> {
    const safe = repeatable(request);
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= this.#attempts;
      let wait = growingWait(attempt);
      let response: Response;
      try {
        response = await this.#fetch(last ? request : request.clone());
      } catch (error) {
        if (request.signal.aborted) throw error;
        if (last || !safe) throw new ConnectionError(`no response${ofOtherOrigin(request.url)}`, { cause: error });
        await sleep(wait, request.signal);
        continue;
      }
      if (last || !(await transient(response, safe))) return response;
      const seconds = retryAfter(response);
      if (seconds !== undefined) {
        if (seconds > this.#longestWait) return response;
        wait = Math.max(wait, seconds * 1000);
      }
      await response.body?.cancel();
      await sleep(wait, request.signal);
    }
  }

  /** Sends a request once, for responses that are read slowly. */
  once(request: Request): Promise<Response> {
    return this.#fetch(request);
  }
}

/** Gives a POST that takes an Idempotency-Key a new key, unless it has one. */
export function addKey(request: Request, schemaPath: string): void {
  if (request.method === "POST" && keyedPaths.has(schemaPath) && !request.headers.has("Idempotency-Key")) {
    request.headers.set("Idempotency-Key", crypto.randomUUID());
  }
}

// PUT, PATCH and DELETE of this API may be repeated; a POST with a key; and a refresh, which returns the same successor.
function repeatable(request: Request): boolean {
  return request.method !== "POST" || request.headers.has("Idempotency-Key") || request.url.endsWith("/auth/refresh");
}

async function transient(response: Response, safe: boolean): Promise<boolean> {
  switch (response.status) {
    case 409:
      return (await problemOf(response)).code === "request_in_progress";
    case 429:
      return (await problemOf(response)).code === "rate_limited";
    case 503:
      return safe || (await problemOf(response)).code === "overloaded";
    default:
      return safe && response.status >= 500;
  }
}

/** Returns 0.25 to 0.5, 0.5 to 1, 1 to 2 seconds and so on, at most 30, in milliseconds. */
export function growingWait(attempt: number): number {
  const most = Math.min(500 * 2 ** (attempt - 1), 30_000);
  return most / 2 + (Math.random() * most) / 2;
}

/** Waits, or rejects with the reason of the signal. */
export function sleep(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** ofOtherOrigin says what a browser hides: a page of another origin gets no response unless the service allows its origin. */
function ofOtherOrigin(url: string): string {
  const page = (globalThis as { location?: { origin?: string } }).location?.origin;
  if (!page || page === "null" || new URL(url).origin === page) return "";
  return `: the service cannot be reached, or its setting TOUCHLINE_CORS_ORIGINS does not have ${page}`;
}
