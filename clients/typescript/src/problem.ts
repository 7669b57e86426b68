import type { components } from "./api.gen.js";
import type { KnownCode } from "./document.gen.js";

type Schemas = components["schemas"];

/** An RFC 9457 problem as the service sends it. */
export type Problem = Schemas["Problem"];

/** The members that a problem of a code always has. */
interface Members {
  validation_failed: "errors";
  otp_incorrect: "attempts_left";
  profile_incomplete: "missing";
  player_exists: "player_id";
  request_pending: "request_id" | "resend_allowed_at";
  request_superseded: "request_id";
  invalid_transition: "state" | "allowed";
  call_too_early: "retry_at";
  call_hours: "retry_at";
  call_limit: "retry_at";
  tier_limit: "limit";
  payment_exceeds_balance: "balance" | "currency";
}

/** The problem of one known code, with the members that the code has. */
export type ProblemOf<C extends KnownCode> = Omit<Problem, "code"> & { code: C } & (C extends keyof Members
    ? { [M in Members[C]]-?: NonNullable<Problem[M]> }
    : unknown);

/** Every known problem, to be told apart by `code`. */
export type KnownProblem = { [C in KnownCode]: ProblemOf<C> }[KnownCode];

/** The service refused a call. `problem.detail` is for people, `code` is for programs and may be one that this version does not know. */
export class TouchlineError extends Error {
  override readonly name = "TouchlineError";
  constructor(
    readonly problem: Problem,
    /** Seconds after which the call may be sent again, if the service said so. */
    readonly retryAfter?: number,
  ) {
    super(`${problem.code}: ${problem.detail}`);
  }
  get code(): string {
    return this.problem.code;
  }
  get status(): number {
    return this.problem.status;
  }
}

/** No response arrived. It is unknown whether the service did the work; calls that can be repeated were repeated. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** There is no session any more. Show the sign-in. `reason` is the code that ended it, or `signed_out`. */
export class SignedOutError extends Error {
  override readonly name = "SignedOutError";
  constructor(readonly reason: string) {
    super(`signed out: ${reason}`);
  }
}

/** Reports whether error is a problem of this code, and gives its problem the members of the code. */
export function hasCode<C extends KnownCode>(error: unknown, code: C): error is TouchlineError & { problem: ProblemOf<C> } {
  return error instanceof TouchlineError && error.problem.code === code;
}

/** Reads the problem of a response. A proxy's response without one gets the code `http_<status>`. */
export async function problemOf(response: Response): Promise<TouchlineError> {
  const seconds = retryAfter(response);
  try {
    const body = (await response.clone().json()) as Problem;
    if (typeof body.code === "string") return new TouchlineError(body, seconds);
  } catch {
    // not JSON
  }
  const title = response.statusText || `HTTP ${response.status}`;
  return new TouchlineError(
    {
      type: "about:blank",
      title,
      status: response.status,
      detail: title,
      code: `http_${response.status}`,
      trace_id: response.headers.get("X-Trace-Id") ?? "",
    },
    seconds,
  );
}

/** Returns the seconds of Retry-After, or undefined without a number there. */
export function retryAfter(response: Response): number | undefined {
  const value = response.headers.get("Retry-After");
  const seconds = value ? Number(value) : NaN;
  return Number.isFinite(seconds) ? seconds : undefined;
}
