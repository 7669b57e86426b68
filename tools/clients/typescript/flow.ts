// The main flow with types that openapi-typescript generates with its default options. CI compiles
// it; the Go client beside it runs the same flow against a server.
import createClient from "openapi-fetch";

import type { paths as OperatorPaths } from "./operators.gen.js";
import type { components, paths } from "./touchline.gen.js";

type Problem = components["schemas"]["Problem"];
type Role = components["schemas"]["Role"];

const baseUrl = "http://127.0.0.1:8080";
const touchline = createClient<paths>({ baseUrl });
const operators = createClient<OperatorPaths>({ baseUrl: "http://127.0.0.1:8081" });

function fail(problem: Problem): never {
  const faults = problem.errors?.map((fault) => `${fault.pointer} ${fault.code}`) ?? [];
  throw new Error([problem.code, problem.detail, ...faults].join(": "));
}

// signIn returns the header of a new session. Fields that have a default are left out.
async function signIn(mobile_number: string, readOtp: () => Promise<string>, role?: Role) {
  const who = role ? { mobile_number, role } : { mobile_number };
  const sent = await touchline.POST("/auth/request-otp", { body: who });
  if (sent.error) fail(sent.error);
  const { data, error } = await touchline.POST("/auth/login", {
    body: { ...who, otp: await readOtp() },
    params: { header: { "Idempotency-Key": crypto.randomUUID() } },
  });
  if (error) fail(error);
  return { Authorization: `Bearer ${data.access_token}` };
}

export async function mainFlow(readOtp: () => Promise<string>): Promise<boolean> {
  const coach = await signIn("+919812345678", readOtp);
  const profile = await touchline.POST("/auth/complete-profile", {
    headers: coach,
    body: { name: "Meera Nair", bio: "Hockey for every child.", experience_years: 7, sports: ["hockey"] },
  });
  if (profile.error) fail(profile.error);
  const email: string | null = profile.data.email;
  await touchline.PATCH("/api/coach/profile", { headers: coach, body: { email: email ?? null } });

  const added = await touchline.POST("/api/players/add", {
    headers: coach,
    body: {
      student: { full_name: "Asha Rao", date_of_birth: "2014-04-30" },
      guardian: { name: "Ravi Rao", relationship: "father", mobile_number: "+919812345680" },
    },
  });
  if (added.error) fail(added.error);

  const guardian = await signIn("+919812345680", readOtp, "guardian");
  const links = await touchline.GET("/api/me/players", { headers: guardian, params: { query: { limit: 10 } } });
  if (links.error) fail(links.error);
  for (const { player_id, request_id } of links.data.items) {
    const decided = await touchline.PUT("/api/approval/guardian-response", {
      headers: guardian,
      body: { player_id, action: "approved", ...(request_id && { request_id }) },
    });
    if (decided.error) fail(decided.error);
  }

  const availability = await touchline.GET("/api/services/availability/{playerId}", {
    headers: coach,
    params: { path: { playerId: added.data.player_id } },
  });
  if (availability.error) fail(availability.error);
  await touchline.POST("/auth/logout", { headers: coach, body: {} });
  return availability.data.guardian_app_enabled;
}

export async function operatorsReady(): Promise<boolean> {
  const { data } = await operators.GET("/readyz");
  return data?.status === "ok";
}
