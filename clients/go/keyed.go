package touchline

import "net/http"

// keyedPaths are the paths whose POST takes an Idempotency-Key. A test compares them with the OpenAPI document.
var keyedPaths = []string{
	"/auth/login",
	"/auth/passkeys",
	"/auth/change-number",
	"/api/me/push-subscriptions",
	"/api/coach/documents",
	"/api/batches",
	"/api/batches/{batch_id}/trainings",
	"/api/trainings/{training_id}/ask",
	"/api/calendar",
	"/api/me/players/{player_id}/calendar",
	"/api/coach/kyc",
	"/api/fees",
	"/api/fees/{fee_id}/waive",
	"/api/fees/{fee_id}/void",
	"/api/fees/{fee_id}/remind",
	"/api/fees/{fee_id}/payments",
	"/api/fees/{fee_id}/payments/{payment_id}/reverse",
	"/api/players/add",
	"/api/players/import",
	"/api/players/{player_id}/guardians",
	"/api/approval/send-guardian-request",
	"/api/approval/send-student-request",
	"/api/approval/requests/{request_id}/cancel",
	"/api/approval/requests/{request_id}/follow-up",
	"/api/approval/requests/{request_id}/call",
	"/api/approval/requests/{request_id}/dispute",
	"/api/approval/send-reminder",
	"/api/conversations/{player_id}/{party}",
	"/api/messages",
	"/api/messages/templates",
	"/api/me/players/{player_id}/messages",
	"/api/players/{player_id}/progress",
	"/api/players/{player_id}/reports",
}

// keyed matches the requests of keyedPaths.
var keyed = func() *http.ServeMux {
	mux := http.NewServeMux()
	for _, path := range keyedPaths {
		mux.Handle("POST "+path, http.NotFoundHandler())
	}
	return mux
}()

// takesKey reports whether a request takes an Idempotency-Key.
func takesKey(req *http.Request) bool {
	_, pattern := keyed.Handler(req)
	return pattern != ""
}
