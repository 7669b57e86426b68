# The curl samples of /docs: each is between "sample:" and "end". .ci/run runs the whole file against a service of its own.
# URL, PROGRAM and TOUCHLINE_DATA_DIR name the service.
set -euo pipefail
curl() { command curl --fail-with-body -sS "$@"; }
pick() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

# new_code prints the code that arrived at a number, and waits until it is not $2.
new_code() {
  local found
  for _ in $(seq 200); do
    found=$(curl -G "$URL/dev/messages" --data-urlencode "number=$1" | grep -o '"code":"[0-9]*"' | head -n 1 | tr -dc 0-9) || true
    [[ -z $found || $found == "${2:-}" ]] || break
    sleep 0.05
  done
  echo "$found"
}

# sample: requestOtp
curl "$URL/auth/request-otp" -H 'Content-Type: application/json' \
  -d '{"mobile_number": "98123 45678", "role": "coach"}'
# end
code=$(new_code '98123 45678')
# sample: login
LOGIN=$(curl "$URL/auth/login" -H 'Content-Type: application/json' -H 'Idempotency-Key: login-1' \
  -d '{"mobile_number": "98123 45678", "role": "coach", "otp": "'"$code"'", "device_name": "A phone"}')
TOKEN=$(printf '%s' "$LOGIN" | pick access_token)
REFRESH_TOKEN=$(printf '%s' "$LOGIN" | pick refresh_token)
# end
first_code=$code
# sample: getMe
curl "$URL/api/me" -H "Authorization: Bearer $TOKEN"
# end
# sample: refresh
LOGIN=$(curl "$URL/auth/refresh" -H 'Content-Type: application/json' \
  -d '{"refresh_token": "'"$REFRESH_TOKEN"'"}')
TOKEN=$(printf '%s' "$LOGIN" | pick access_token)
REFRESH_TOKEN=$(printf '%s' "$LOGIN" | pick refresh_token)
# end
# sample: completeProfile
curl "$URL/auth/complete-profile" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
  -d '{"name": "Asha Rao", "bio": "I coach sprinters.", "experience_years": 11, "sports": ["Athletics"]}'
# end
# sample: getCoachProfile
COACH_ID=$(curl "$URL/api/coach/profile" -H "Authorization: Bearer $TOKEN" | pick coach_id)
# end
# sample: addPlayer
PLAYER=$(curl "$URL/api/players/add" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
  -H 'Idempotency-Key: add-1' -d '{
    "student": {"full_name": "Kabir Mehta", "date_of_birth": "2014-04-30", "contact_number": "98765 01234"},
    "guardian": {"name": "Meera Mehta", "relationship": "mother", "mobile_number": "98987 65432"}
  }' | pick player_id)
# end
# sample: getApprovalStatus
curl "$URL/api/players/approval-status/$PLAYER" -H "Authorization: Bearer $TOKEN"
# end
# sample: listPlayers
curl "$URL/api/players?limit=50" -H "Authorization: Bearer $TOKEN"
# end
# sample: listPendingApprovals
curl "$URL/api/coach/pending-approvals" -H "Authorization: Bearer $TOKEN"
# end
COACH_TOKEN=$TOKEN
curl "$URL/auth/request-otp" -H 'Content-Type: application/json' -d '{"mobile_number": "98987 65432", "role": "guardian"}'
code=$(new_code '98987 65432')
TOKEN=$(curl "$URL/auth/login" -H 'Content-Type: application/json' \
  -d '{"mobile_number": "98987 65432", "role": "guardian", "otp": "'"$code"'"}' | pick access_token)
# sample: listMyPlayers
REQUEST=$(curl "$URL/api/me/players" -H "Authorization: Bearer $TOKEN" | pick request_id)
# end
# sample: respondAsGuardian
curl -X PUT "$URL/api/approval/guardian-response" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
  -d '{"player_id": "'"$PLAYER"'", "action": "approved", "request_id": "'"$REQUEST"'"}'
# end
# sample: getAvailability
curl "$URL/api/services/availability/$PLAYER" -H "Authorization: Bearer $TOKEN"
# end
TOKEN=$COACH_TOKEN
# sample: sendReminder
curl "$URL/api/approval/send-reminder" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
  -H 'Idempotency-Key: remind-1' -d '{"player_id": "'"$PLAYER"'", "approver_type": "student"}'
# end
# sample: getDashboard
curl "$URL/api/coach/dashboard" -H "Authorization: Bearer $TOKEN"
# end
# sample: listNotifications
curl "$URL/api/notifications" -H "Authorization: Bearer $TOKEN"
# end
curl() { timeout 2 curl --fail-with-body -sS "$@" || (($? == 124)); } # the stream does not end
# sample: streamNotifications
curl -N "$URL/api/notifications/stream" -H "Authorization: Bearer $TOKEN" -H 'Accept: text/event-stream'
# end
curl() { command curl --fail-with-body -sS "$@"; }
# sample: listSubscriptionTiers
curl "$URL/api/subscription-tiers" -H "Authorization: Bearer $TOKEN"
# end
# sample: getSubscription
curl "$URL/api/coach/subscription" -H "Authorization: Bearer $TOKEN"
# end
# sample: chooseTier
curl -X PUT "$URL/api/coach/subscription" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"tier": "pro"}'
# end
# sample: uploadDocument
DOCUMENT=$(curl "$URL/api/coach/documents" -H "Authorization: Bearer $TOKEN" -H 'Idempotency-Key: upload-1' \
  -F kind=certification -F title='First aid' -F expires_on=2031-03-31 -F file=@docs/samples/certificate.pdf | pick document_id)
# end
# sample: listDocuments
curl "$URL/api/coach/documents?kind=certification" -H "Authorization: Bearer $TOKEN"
# end
# sample: updateDocument
curl -X PATCH "$URL/api/coach/documents/$DOCUMENT" -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/merge-patch+json' -d '{"title": "First aid, renewed", "expires_on": "2033-03-31"}'
# end
# sample: deleteDocument
curl -X DELETE "$URL/api/coach/documents/$DOCUMENT" -H "Authorization: Bearer $TOKEN"
# end
IDENTITY=$(curl "$URL/api/coach/documents" -H "Authorization: Bearer $TOKEN" -F kind=identity -F file=@docs/samples/certificate.pdf | pick document_id)
# sample: submitVerification
curl "$URL/api/coach/kyc" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Idempotency-Key: kyc-1' \
  -d '{"legal_name": "Asha Kumari Rao", "document_ids": ["'"$IDENTITY"'"]}'
# end
# sample: getVerification
curl "$URL/api/coach/kyc" -H "Authorization: Bearer $TOKEN"
# end
"$PROGRAM" admin kyc approve "$COACH_ID"
# sample: setVisibility
curl -X PUT "$URL/api/coach/visibility" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
  -d '{"visible": true, "show": ["name", "bio", "sports"]}'
# end
# sample: listCoaches
curl "$URL/api/coaches?sport=athletics&q=asha&limit=20"
# end
# sample: getCoach
curl "$URL/api/coaches/$COACH_ID"
# end
curl "$URL/auth/request-otp" -H 'Content-Type: application/json' -d '{"mobile_number": "98123 45678"}'
code=$(new_code '98123 45678' "$first_code")
curl "$URL/auth/request-otp" -H 'Content-Type: application/json' -d '{"mobile_number": "98123 45679"}'
new_code=$(new_code '98123 45679')
# sample: changeNumber
curl "$URL/auth/change-number" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
  -H 'Idempotency-Key: number-1' -d '{"otp": "'"$code"'", "new_mobile_number": "98123 45679", "new_otp": "'"$new_code"'"}'
# end
curl "$URL/auth/request-otp" -H 'Content-Type: application/json' -d '{"mobile_number": "98123 45679"}'
code=$(new_code '98123 45679' "$new_code")
OTHER=$(curl "$URL/auth/login" -H 'Content-Type: application/json' -d '{"mobile_number": "98123 45679", "role": "coach", "otp": "'"$code"'"}')
COACH_TOKEN=$TOKEN TOKEN=$(printf '%s' "$OTHER" | pick access_token)
# sample: logout
curl "$URL/auth/logout" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{}'
# end
TOKEN=$COACH_TOKEN
curl "$URL/auth/request-otp" -H 'Content-Type: application/json' -d '{"mobile_number": "98123 45679"}'
code=$(new_code '98123 45679' "$code")
# sample: closeAccount
curl -X DELETE "$URL/api/me" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"otp": "'"$code"'"}'
# end
echo "every sample ran"
