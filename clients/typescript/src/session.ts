import type { components } from "./api.gen.js";
import { problemOf, SignedOutError, TouchlineError } from "./problem.js";
import type { Storage } from "./storage.js";
import type { Transport } from "./transport.js";

type Schemas = components["schemas"];
type Tokens = Schemas["TokenAnswer"];

/** The account of a session. */
export type Account = Schemas["Account"];

/** A stored session. `works_until` is milliseconds of the clock of this device. */
interface Stored extends Tokens {
  works_until: number;
}

/** The codes of 401 after which the same call works with a new access token. */
const staleCodes = ["token_expired", "token_invalid"];

/**
 * One signed-in account. It refreshes in one place: every call waits for the one refresh, also those of other tabs where the browser
 * has Web Locks. A new refresh token is stored before the new access token is used.
 */
export class Session {
  #refreshing: Promise<Stored> | undefined;

  constructor(
    private readonly baseUrl: string,
    private readonly transport: Transport,
    private readonly storage: Storage,
    private readonly name: string,
    private readonly onSignedOut: (reason: string) => void,
  ) {}

  /** The signed-in account, or undefined. */
  async account(): Promise<Account | undefined> {
    return (await this.#read())?.account;
  }

  /** Sends an OTP, with the device token of this number and role. */
  async requestOtp(body: Schemas["RequestOtpRequest"]): Promise<Schemas["OtpSent"]> {
    return await this.#post<Schemas["OtpSent"]>("/auth/request-otp", await this.#withDevice(body));
  }

  /** Checks an OTP without using it up. */
  async verifyOtp(body: Schemas["VerifyOtpRequest"]): Promise<Schemas["OtpVerified"]> {
    return await this.#post<Schemas["OtpVerified"]>("/auth/verify-otp", await this.#withDevice(body));
  }

  /** Signs in with an OTP and stores the session. A lost response is asked for again with the same key: the OTP is not lost. */
  async signIn(body: Schemas["LoginRequest"]): Promise<Tokens> {
    const tokens = await this.#post<Tokens>("/auth/login", await this.#withDevice(body), { "Idempotency-Key": crypto.randomUUID() });
    await this.adopt(tokens, body.mobile_number);
    return tokens;
  }

  /** Stores the tokens of another way to sign in, such as a passkey. */
  async adopt(tokens: Tokens, typedNumber = tokens.account.mobile_number): Promise<void> {
    for (const number of [typedNumber, tokens.account.mobile_number]) {
      await this.storage.setItem(this.#deviceKey(number, tokens.account.role), tokens.device_token);
    }
    await this.#write(tokens);
  }

  /** Ends this session, or with `all` every session of the number. The tokens are deleted even if the service cannot be reached. */
  async signOut(options: { all?: boolean } = {}): Promise<void> {
    const stored = await this.#read();
    await this.#delete("signed_out");
    if (!stored) return;
    try {
      await this.#post("/auth/logout", { refresh_token: stored.refresh_token, ...options }, { Authorization: `Bearer ${stored.access_token}` });
    } catch (error) {
      if (!(error instanceof TouchlineError && error.status === 401)) throw error;
    }
  }

  /** Sends a request with the access token. After a refresh the request is sent once more. */
  async authorized(request: Request, send: (request: Request) => Promise<Response>): Promise<Response> {
    const tokens = await this.#current();
    const first = request.clone();
    first.headers.set("Authorization", `Bearer ${tokens.access_token}`);
    const response = await send(first);
    if (response.status !== 401) return response;
    const { code } = await problemOf(response);
    if (!staleCodes.includes(code)) {
      if (code === "session_revoked") {
        await this.#delete(code);
        throw new SignedOutError(code);
      }
      return response;
    }
    const fresh = await this.#refresh(tokens);
    request.headers.set("Authorization", `Bearer ${fresh.access_token}`);
    return await send(request);
  }

  /** Returns an access token that works for at least some seconds. */
  async accessToken(): Promise<string> {
    return (await this.#current()).access_token;
  }

  async #current(): Promise<Stored> {
    const stored = await this.#read();
    if (!stored) throw new SignedOutError("signed_out");
    return stored.works_until - Date.now() < 5000 ? await this.#refresh(stored) : stored;
  }

  #refresh(used: Stored): Promise<Stored> {
    this.#refreshing ??= this.#locked(() => this.#exchange(used)).finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  // Tabs of one browser share the storage, so only one of them may refresh at a time.
  #locked(work: () => Promise<Stored>): Promise<Stored> {
    const locks = (globalThis.navigator as Navigator | undefined)?.locks;
    return locks ? (locks.request(`${this.name}.refresh`, work) as unknown as Promise<Stored>) : work();
  }

  async #exchange(used: Stored): Promise<Stored> {
    const stored = await this.#read();
    if (!stored) throw new SignedOutError("signed_out");
    if (stored.refresh_token !== used.refresh_token) return stored; // another tab has refreshed
    try {
      return await this.#write(await this.#post<Tokens>("/auth/refresh", { refresh_token: stored.refresh_token }));
    } catch (error) {
      if (!(error instanceof TouchlineError && error.status === 401)) throw error;
      if (error.code === "refresh_token_raced") {
        const newer = await this.#read();
        if (newer && newer.refresh_token !== stored.refresh_token) return newer;
      }
      await this.#delete(error.code);
      throw new SignedOutError(error.code);
    }
  }

  async #post<T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
    const response = await this.transport.send(
      new Request(this.baseUrl + path, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
        credentials: "omit",
      }),
    );
    if (!response.ok) throw await problemOf(response);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  async #withDevice<T extends { mobile_number: string; role?: Schemas["Role"] }>(body: T): Promise<T> {
    const device_token = await this.storage.getItem(this.#deviceKey(body.mobile_number, body.role ?? "coach"));
    return device_token ? { ...body, device_token } : body;
  }

  // A number is typed in several spellings; the last ten digits are the same in all of them.
  #deviceKey(number: string, role: string): string {
    return `${this.name}.device.${role}.${number.replace(/\D/g, "").slice(-10)}`;
  }

  async #read(): Promise<Stored | undefined> {
    const text = await this.storage.getItem(`${this.name}.session`);
    return text ? (JSON.parse(text) as Stored) : undefined;
  }

  async #write(tokens: Tokens): Promise<Stored> {
    const stored = { ...tokens, works_until: Date.now() + tokens.expires_in * 1000 };
    await this.storage.setItem(`${this.name}.session`, JSON.stringify(stored));
    return stored;
  }

  async #delete(reason: string): Promise<void> {
    await this.storage.removeItem(`${this.name}.session`);
    this.onSignedOut(reason);
  }
}
