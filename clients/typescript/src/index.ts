export type { components, operations, paths } from "./api.gen.js";
export { Touchline, type Call, type Item, type ListPath, type Live, type Options, type Result } from "./client.js";
export type { KnownCode } from "./document.gen.js";
export { ConnectionError, hasCode, SignedOutError, TouchlineError, type KnownProblem, type Problem, type ProblemOf } from "./problem.js";
export { Session, type Account } from "./session.js";
export { memoryStorage, type Storage } from "./storage.js";
export type { RetryOptions } from "./transport.js";
export type { UploadOptions } from "./upload.js";
