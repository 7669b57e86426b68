package problem

import "slices"

// Type is a problem type (RFC 9457): the common members of its problems and the text of
// its page under /problems/.
type Type struct {
	// Code is stable and for programs. It is the last part of the page's URL.
	Code   string
	Status int
	// Title is the same in every problem of this code.
	Title string
	// Meaning and WhatToDo are sentences for people; names of fields and headers are
	// in `backquotes`.
	Meaning  string
	WhatToDo string
}

// Catalogue returns every problem type, ordered by status.
func Catalogue() []Type { return slices.Clone(catalogue) }

// Lookup returns the problem type of code; ok is false for an unknown code.
func Lookup(code string) (Type, bool) {
	i := slices.IndexFunc(catalogue, func(p Type) bool { return p.Code == code })
	if i < 0 {
		return Type{}, false
	}
	return catalogue[i], true
}

// catalogue is in the order in which people read it.
var catalogue = []Type{
	{
		"malformed_request", 400, "The request cannot be read",
		"The body is not JSON, or it is not valid UTF-8.",
		"Send one JSON value in UTF-8. If the body is built by hand, look for a missing quote, comma or bracket.",
	},

	{
		"token_missing", 401, "Sign-in is needed",
		"This call needs an access token, and none was sent.",
		"Send `Authorization: Bearer` followed by your access token. Without one, sign in.",
	},
	{
		"token_invalid", 401, "The access token is not valid",
		"This is not an access token of this service, or somebody has changed it.",
		"Refresh and try again. If that fails, sign in again.",
	},
	{
		"token_expired", 401, "The access token has expired",
		"Access tokens work for a short time only, by default 15 minutes.",
		"Refresh and try again. If that fails, sign in again.",
	},
	{
		"session_revoked", 401, "The session has ended",
		"This session was signed out, here or from another device, or it was ended for safety.",
		"Sign in again.",
	},
	{
		"refresh_token_invalid", 401, "The refresh token is not valid",
		"This is not a refresh token of this service.",
		"Sign in again.",
	},
	{
		"refresh_token_expired", 401, "The refresh token has expired",
		"The session was not used for too long, or it has reached its maximum age.",
		"Sign in again.",
	},
	{
		"refresh_token_raced", 401, "A newer refresh token is in use",
		"Two parts of your app refreshed at nearly the same time. The token of the other part is already in use. The session continues.",
		"Use the newer token that the other part has stored. Let only one part refresh, and let the others wait for it. If there is no newer token, sign in again.",
	},
	{
		"refresh_token_reused", 401, "An old refresh token came back",
		"A refresh token was sent again, long after it was replaced. This can mean that it was stolen. So the session has ended, and its owner got a message.",
		"Sign in again. If you did not expect this, look at your sessions and end those that you do not know.",
	},

	{
		"role_not_allowed", 403, "Not for this role",
		"A session has one role: coach, guardian or student. This call is for another.",
		"Sign in in the role that the call is for. One number may hold several roles, each with a separate session.",
	},
	{
		"profile_incomplete", 403, "The profile is incomplete",
		"Adding players, sending requests and sending reminders wait until the coach's profile is complete.",
		"Fill in the fields that `missing` names, with `POST /auth/complete-profile` or `PATCH /api/coach/profile`.",
	},
	{
		"kyc_required", 403, "Identity must be verified first",
		"Only coaches with a verified identity can do this. `limit` names what it is. `kyc_state` is the state of the verification.",
		"Upload identity documents, submit them with `POST /api/coach/kyc`, and wait for the decision.",
	},
	{
		"tier_limit", 403, "Not in this subscription tier",
		"The subscription tier does not include this feature, or its limit is reached: `limit` names it, `limit_value` is how much is allowed, `use` how much there is.",
		"Choose `needed_tier` with `PUT /api/coach/subscription` if coaches may choose it. Otherwise ask the operator of the service, or remove something.",
	},
	{
		"approval_pending", 403, "Waiting for approval",
		"A student sees only the approval screen until one of their links to a coach is approved. What a coach notes about a player opens to a guardian or student when that party approves.",
		"Approve a link first; `GET /api/me/players` lists them.",
	},
	{
		"approval_required", 403, "The approval was refused or taken back",
		"What a coach notes about a player is open to a guardian or student while that party approves. It said no, or took its yes back.",
		"Ask the coach to send the request again, and approve it.",
	},
	{
		"destination_blocked", 403, "No OTP is sent to this number",
		"The service sends no SMS to numbers of that country, or it suspects fraud with numbers like that one.",
		"Try again in an hour, use a number of a country that is served, or ask the operator of the service.",
	},
	{
		"insufficient_scope", 403, "Not in the scopes of this token",
		"An operator's token may do what its scopes name, and this call is for another scope.",
		"Use a token with the scope that `WWW-Authenticate` names. An operator creates one with `touchline admin token create`.",
	},
	{
		"https_required", 403, "Sent without encryption",
		"The request was sent over http, so others on the network could read it. Reads over http are redirected.",
		"Use the https address of the service. If the request had a token or an OTP, sign out and sign in again.",
	},
	{
		"fresh_otp_required", 403, "A recent sign-in is needed",
		"This call needs a session whose OTP or passkey was entered in the last 15 minutes.",
		"Sign in again. Then repeat the call within 15 minutes.",
	},
	{
		"proof_required", 403, "A proof of an adult is needed",
		"On this service a guardian of a minor proves once to be an adult, before the first yes. A no needs no proof.",
		"Call `POST /api/approval/proof`, open the `url` of its response in a browser, and send the yes again when `GET /api/approval/proof` says `valid`.",
	},
	{
		"account_suspended", 403, "The account is suspended",
		"An operator of the service has suspended this account.",
		"Ask the operator of the service.",
	},

	{
		"not_found", 404, "Not found",
		"There is nothing at this address, or nothing that you may see. For your privacy both get the same response.",
		"Check the address and the identifier, and that you are signed in with the right number and role.",
	},
	{
		"method_not_allowed", 405, "Method not allowed",
		"The address exists, but not with this method.",
		"Use one of the methods that the `Allow` header lists.",
	},
	{
		"not_acceptable", 406, "No acceptable format",
		"The `Accept` header does not allow the formats of this call.",
		"Accept `application/json` and `application/problem+json` (for the stream, `text/event-stream`), or leave the header out.",
	},

	{
		"name_limit", 409, "Too many new names",
		"The coach asked for 3 names in 30 days that families do not know. `allowed_at` says when another one is possible.",
		"Wait until then, or keep a word of the name that families know.",
	},
	{
		"number_in_use", 409, "The number belongs to a coach already",
		"The code for the new number is right, but a coach with this number is registered already.",
		"To use the number for this account, first sign in with the number and close that account.",
	},
	{
		"player_exists", 409, "The player exists already",
		"This coach already has a student of that name and birth date.",
		"Use the player that `player_id` names, or correct the name or the birth date.",
	},
	{
		"request_pending", 409, "Asked already",
		"That party got a request a short while ago and has not answered yet. Nothing was sent.",
		"Wait until `resend_allowed_at`, send a reminder, or correct the contact if it is wrong.",
	},
	{
		"request_superseded", 409, "The request is no longer open",
		"The request was cancelled or replaced in the meantime.",
		"Read the approval status again and show the person the new request. Then answer that one.",
	},
	{
		"already_approved", 409, "Approved already",
		"That party has approved already. A request is not necessary.",
		"You do not need to do anything.",
	},
	{
		"invalid_transition", 409, "Not possible from here",
		"That decision is not possible in the state that the party is in. Another person may have decided a moment before.",
		"Read the approval status again; `state` says where the party stands, and `allowed` what is possible.",
	},
	{
		"no_open_request", 409, "No request is open",
		"There is no open request. It was answered, cancelled or disputed, or there never was one.",
		"The coach can send a new request.",
	},
	{
		"no_contact_number", 409, "There is no number to ask",
		"The player has no number for that party.",
		"Give the number with the request, or add it to the player.",
	},
	{
		"first_guardian", 409, "This is the first guardian",
		"Others stay, and the first guardian can be removed only if you say who becomes the first.",
		"Name that guardian in `next`, or remove the others before.",
	},
	{
		"contact_disputed", 409, "This number belongs to another person",
		"The person with that number answered \"this isn't me\". The number gets no further request for this student until that person takes the answer back.",
		"Check the number with the family and correct it. If it is right, the person with that number can lift the dispute.",
	},
	{
		"voice_not_configured", 409, "This service makes no calls",
		"No transport for calls that ask a question is configured.",
		"Send a reminder, or call the family yourself.",
	},
	{
		"messages_stopped", 409, "The person wants no messages",
		"The person stopped the messages of this coach, or chose channels that exclude calls. The question is still open in the app.",
		"Talk to the person.",
	},
	{
		"call_too_early", 409, "Too early for a call",
		"A party has 48 hours to answer a request before it may be called.",
		"Wait until `retry_at`, or send a reminder.",
	},
	{
		"call_hours", 409, "It is too early or too late in the day",
		"A call rings from 9 to 20 o'clock in the time zone of the person, and outside of their quiet hours.",
		"Ask for the call from `retry_at` on.",
	},
	{
		"request_in_progress", 409, "The first request is still running",
		"A request with the same `Idempotency-Key` has not finished yet.",
		"Wait a moment. Then send it again with the same key.",
	},
	{
		"payment_exceeds_balance", 409, "The payment is more than the balance",
		"A fee takes no more than its `balance`. Another payment may have been noted a moment ago.",
		"Read the fee, and note at most its balance. Note money for another fee there.",
	},
	{
		"passkey_limit", 409, "There are too many passkeys",
		"An account has at most 20 passkeys.",
		"Remove one that is not used any more.",
	},
	{
		"batch_archived", 409, "The batch is archived",
		"An archived batch, its players and its attendance can be read, but no longer changed.",
		"Create a new batch, or use another one.",
	},
	{
		"training_begun", 409, "The training has begun",
		"A party says whether a player comes until the training begins. A coach changes a training until it ends.",
		"Tell the coach directly. A coach notes in the attendance who came.",
	},
	{
		"training_cancelled", 409, "The training is cancelled",
		"The coach cancelled this training, so it takes no answers and no changes.",
		"Read the training again. A coach sets `state` to `planned` first.",
	},

	{
		"otp_expired", 410, "The OTP can no longer be used",
		"The OTP has expired or was used, or none was asked for.",
		"Ask for a new OTP.",
	},
	{
		"passkey_expired", 410, "The challenge for a passkey has ended",
		"A challenge is valid for 5 minutes and is answered once.",
		"Ask for new options, and let the person use the passkey again.",
	},
	{
		"cursor_expired", 410, "The cursor is too old",
		"The feed keeps changes and cursors for 90 days. Changes after this cursor may have been deleted.",
		"Read the availability of all your players. Then read the feed again without a cursor.",
	},

	{
		"precondition_failed", 412, "It has changed meanwhile",
		"`If-Match` names a version that is no longer the current one. For an attendance sheet, `sheet` has the current one.",
		"Apply your changes to the current version, and send that with its `ETag` in `If-Match`. Download a file again from its beginning.",
	},
	{
		"payload_too_large", 413, "The body is too large",
		"The body is larger than this call takes: 64 KiB of JSON, 10 MiB for a document, 4 MiB for a file of players. `detail` has the limit.",
		"Send less.",
	},
	{
		"unsupported_media_type", 415, "Unsupported content type",
		"This call does not accept this `Content-Type`.",
		"Send `application/json`; for PATCH, `application/merge-patch+json` works too.",
	},
	{
		"range_not_satisfiable", 416, "The range is outside the file",
		"`Range` begins after the end of the file.",
		"Ask for a range within the length that `Content-Range` has, or for the whole file.",
	},

	{
		"validation_failed", 422, "Some of what was sent cannot be accepted",
		"Something in the body, the query or a header has a wrong type, is too big or too small, or is unknown.",
		"Each entry of `errors` names one mistake and says what is wrong. Correct them all and send the request again.",
	},
	{
		"passkey_invalid", 422, "The passkey cannot be checked",
		"The answer does not fit the challenge, the person was not verified, or the passkey is not known here any more.",
		"Ask for new options and use another passkey, or sign in with an OTP.",
	},
	{
		"otp_incorrect", 422, "The OTP is wrong",
		"The digits are not those that were sent.",
		"Check the latest SMS and try again. `attempts_left` says how often you can try. Or ask for a new OTP.",
	},
	{
		"too_many", 422, "Too many guardians",
		"A player can have at most 4 guardians.",
		"Remove a guardian before you add another one.",
	},
	{
		"contact_conflict", 422, "That number cannot be used here",
		"A guardian or student must be another person than the coach. A number that the coach gave up less than a year ago is refused too. A coach cannot take the number of a guardian or student of one of their players. A test number can be linked with test numbers only.",
		"Enter the number of the guardian or the student; for a number change, one that no player of yours names.",
	},
	{
		"idempotency_key_reused", 422, "The Idempotency-Key was used already",
		"The same key came with another body within 24 hours.",
		"Use a new key for each new request. Repeat a key only with exactly the same body.",
	},

	{
		"precondition_required", 428, "If-Match is needed",
		"There is a version already, which the request would replace unseen.",
		"Read the current version, apply your changes to it, and send that with its `ETag` in `If-Match`.",
	},

	{
		"otp_resend_too_soon", 429, "Asked again too soon",
		"An OTP was sent to this number a moment ago.",
		"Look for that SMS. Or wait as long as `Retry-After` says, then ask for a new OTP.",
	},
	{
		"otp_send_limit", 429, "Too many OTPs",
		"Too many OTPs were sent to this number, or were asked for from this network address. We send no more for a while.",
		"Wait as long as `Retry-After` says and then ask for a new OTP.",
	},
	{
		"otp_attempts_exceeded", 429, "Too many wrong tries",
		"This OTP was entered wrongly too often and no longer works, or the number had too many wrong tries today.",
		"Wait as long as `Retry-After` says and then ask for a new OTP.",
	},
	{
		"reminder_limit", 429, "No reminders left",
		"A party gets at most 2 reminders in any 7 days.",
		"Wait as long as `Retry-After` says, or talk to the family.",
	},
	{
		"call_limit", 429, "Called already",
		"A coach can have a party called about a student once in any 7 days.",
		"Wait until `retry_at`, or talk to the family.",
	},
	{
		"message_limit", 429, "No messages left",
		"The subscription tier limits how many SMS a coach's messages take in 24 hours, and a reply has a limit too. Nothing was sent.",
		"`allowed_now` says how many are left. Write to fewer people, or wait as long as `Retry-After` says.",
	},
	{
		"rate_limited", 429, "Too many requests",
		"Too many requests came from this network address.",
		"Wait as long as `Retry-After` says. Then send requests more slowly.",
	},

	{
		"internal_error", 500, "Something went wrong",
		"The server made a mistake. Nothing is half done.",
		"Try again later. If it happens again, send the `trace_id` to the operator of the service.",
	},
	{
		"overloaded", 503, "Too busy for the moment",
		"More requests arrive than the service can handle, so it refuses some at once. Nothing was done.",
		"Wait as long as `Retry-After` says and send the same request again, with the same `Idempotency-Key`. Wait longer after each further refusal.",
	},
	{
		"unavailable", 503, "Unavailable for the moment",
		"A part that the service needs does not respond. Nothing is half done.",
		"Wait as long as `Retry-After` says and send the same request again, with the same `Idempotency-Key`.",
	},
}
