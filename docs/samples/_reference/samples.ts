// The TypeScript samples of /docs: each is between "sample:" and "end". The tests of clients/typescript run the whole file.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Touchline } from "@touchline/client";

const url = process.env["URL"] ?? "http://127.0.0.1:8080";
const codes = new Map<string, string>();

/** The next code that arrives at a number. */
async function newCode(number: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${url}/dev/messages?number=${encodeURIComponent(number)}`);
    const { items } = (await response.json()) as { items: { code: string | null }[] };
    const code = items.find((m) => m.code)?.code;
    if (code && code !== codes.get(number)) {
      codes.set(number, code);
      return code;
    }
    await new Promise((wait) => setTimeout(wait, 50));
  }
}

const touchline = new Touchline({ baseUrl: url });
// sample: requestOtp
await touchline.session.requestOtp({ mobile_number: "98123 45678", role: "coach" });
// end
let otp = await newCode("98123 45678");
// sample: login
const { next, device_token } = await touchline.session.signIn({ mobile_number: "98123 45678", role: "coach", otp });
// end
console.log(next);
// sample: getMe
const me = await touchline.get("/api/me");
console.log(me.role, me.profile_complete);
// end
// sample: completeProfile
await touchline.post("/auth/complete-profile", {
  body: { name: "Asha Rao", bio: "I coach sprinters.", experience_years: 11, sports: ["Athletics"] },
});
// end
// sample: getCoachProfile
const { coach_id } = await touchline.get("/api/coach/profile");
// end
// sample: addPlayer
const { player_id } = await touchline.post("/api/players/add", {
  body: {
    student: { full_name: "Kabir Mehta", date_of_birth: "2014-04-30", contact_number: "98765 01234" },
    guardian: { name: "Meera Mehta", relationship: "mother", mobile_number: "98987 65432" },
  },
});
// end
// sample: getApprovalStatus
const approval = await touchline.get("/api/players/approval-status/{playerId}", { params: { path: { playerId: player_id } } });
console.log(approval.guardian_status, approval.student_status);
// end
// sample: listPlayers
for await (const player of touchline.all("/api/players")) {
  console.log(player.student.full_name, player.guardian_status);
}
// end
// sample: listPendingApprovals
for await (const pending of touchline.all("/api/coach/pending-approvals")) console.log(pending);
// end
const guardian = new Touchline({ baseUrl: url });
await guardian.session.requestOtp({ mobile_number: "98987 65432", role: "guardian" });
await guardian.session.signIn({ mobile_number: "98987 65432", role: "guardian", otp: await newCode("98987 65432") });
// sample: listMyPlayers
for await (const player of guardian.all("/api/me/players")) {
  console.log(player.student_name, player.status);
}
// end
// sample: respondAsGuardian
await guardian.put("/api/approval/guardian-response", { body: { player_id, action: "approved" } });
// end
// sample: getAvailability
const availability = await guardian.get("/api/services/availability/{playerId}", { params: { path: { playerId: player_id } } });
console.log(availability);
// end
// sample: sendReminder
await touchline.post("/api/approval/send-reminder", { body: { player_id, approver_type: "student" } });
// end
// sample: getDashboard
const dashboard = await touchline.get("/api/coach/dashboard");
for (const item of dashboard.attention) console.log(item.kind, item.detail);
// end
// sample: listNotifications
for await (const notification of touchline.all("/api/notifications")) console.log(notification.title);
// end
// sample: streamNotifications
for await (const event of touchline.live()) {
  if (event.type === "notification") console.log(event.notification.body);
  else break; // the newest ones, before new ones arrive
}
// end
// sample: listSubscriptionTiers
console.log(await touchline.get("/api/subscription-tiers"));
// end
// sample: getSubscription
const subscription = await touchline.get("/api/coach/subscription");
console.log(subscription.tier);
// end
// sample: chooseTier
await touchline.put("/api/coach/subscription", { body: { tier: "pro" } });
// end
const file = new File([readFileSync("docs/samples/certificate.pdf")], "certificate.pdf");
// sample: uploadDocument
const document = await touchline.uploadDocument({ kind: "certification", title: "First aid", expires_on: "2031-03-31" }, file, {
  onProgress: (part) => console.log(`${Math.round(part * 100)} %`),
});
// end
// sample: listDocuments
console.log(await touchline.get("/api/coach/documents", { params: { query: { kind: "certification" } } }));
// end
const { document_id } = document;
// sample: updateDocument
await touchline.patch("/api/coach/documents/{document_id}", {
  params: { path: { document_id } },
  body: { title: "First aid, renewed", expires_on: "2033-03-31" },
});
// end
// sample: deleteDocument
await touchline.delete("/api/coach/documents/{document_id}", { params: { path: { document_id } } });
// end
const identity = await touchline.uploadDocument({ kind: "identity" }, file);
// sample: submitVerification
await touchline.post("/api/coach/kyc", { body: { legal_name: "Asha Kumari Rao", document_ids: [identity.document_id] } });
// end
// sample: getVerification
const verification = await touchline.get("/api/coach/kyc");
console.log(verification.state);
// end
execFileSync(process.env["PROGRAM"]!, ["admin", "kyc", "approve", coach_id]);
// sample: setVisibility
await touchline.put("/api/coach/visibility", { body: { visible: true, show: ["name", "bio", "sports"] } });
// end
// sample: listCoaches
for await (const coach of touchline.all("/api/coaches", { params: { query: { sport: "athletics", q: "asha" } } })) console.log(coach.name);
// end
// sample: getCoach
const coach = await touchline.get("/api/coaches/{coach_id}", { params: { path: { coach_id } } });
// end
console.log(coach.name);
await touchline.session.requestOtp({ mobile_number: "98123 45678" });
otp = await newCode("98123 45678");
await new Touchline({ baseUrl: url }).session.requestOtp({ mobile_number: "98123 45679" });
const new_otp = await newCode("98123 45679");
// sample: changeNumber
await touchline.post("/auth/change-number", { body: { otp, device_token, new_mobile_number: "98123 45679", new_otp } });
// end
const phone = new Touchline({ baseUrl: url });
await phone.session.requestOtp({ mobile_number: "98123 45679" });
otp = await newCode("98123 45679");
const tokens = await phone.session.signIn({ mobile_number: "98123 45679", role: "coach", otp });
// sample: logout
await touchline.session.signOut();
// end
await phone.session.requestOtp({ mobile_number: "98123 45679" });
otp = await newCode("98123 45679");
// sample: closeAccount
await phone.delete("/api/me", { body: { otp, device_token: tokens.device_token } });
// end
console.log("every sample ran");
