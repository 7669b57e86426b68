package player

import (
	"context"
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// callLasts is how long after a call left, or its provider last reported about it, its keys count.
const callLasts = time.Hour

// calledQuestion is the question of a call.
type calledQuestion struct {
	message.CallQuestion
	Asked
	// stopped: the person wants no messages of the coach.
	stopped bool
	// called: the call was made. sentAt is zero while a worker makes it.
	called bool
	sentAt time.Time
}

// AnswerCall takes one step of a call with a question, as voice.Answerer. A key that is not possible now
// changes nothing, and the call says how things stand; without a name, if the number is not asked any more. The proof of
// who answers is possession of the asked number.
//
// A yes counts only for the question as the call asked it: if it has changed since, the call asks it again. A no counts.
//
//	question  1 → check question  1, within message.ChatCheckFor → yes
//	question  2, check question  2 → no
//	question  3 → this is not me
func (s *Service) AnswerCall(ctx context.Context, callID string, to phone.Number, state, key string) (message.CallPrompt, error) {
	q, err := s.calledQuestion(ctx, callID, to)
	if database.IsNoRows(err) {
		return message.NotAsked(), nil
	}
	if err != nil {
		return message.CallPrompt{}, fmt.Errorf("read the question of a call: %w", err)
	}
	now := s.DB.Now()
	sure, checks, err := s.parseSure(callID, to, state)
	if err != nil {
		return message.CallPrompt{}, err
	}
	heard, asks := message.ParseCallAsks(state)
	if checks {
		heard = sure.Version
	}
	inTime := now.Before(sure.AskedAt.Add(message.ChatCheckFor))
	switch {
	case !q.CanAnswer():
		return s.callStands(ctx, q)
	case !q.called || !q.sentAt.IsZero() && !now.Before(q.sentAt.Add(callLasts)):
		return q.Over(), nil
	case q.stopped:
		return q.Stopped(), nil
	case state != "" && key == "":
		return q.Silent(), nil
	case (asks || checks) && key == message.CallYes && heard != q.Version:
		return q.Changed(), nil
	case checks && key == message.CallYes && inTime:
		return s.answerCall(ctx, q, callID, message.ChatSure, heard)
	case checks && key == message.CallYes:
		return q.TooLate(), nil
	case checks && key == message.CallAgain && inTime && heard == q.Version:
		return q.Check(sure), nil
	case asks && key == message.CallYes:
		sure := message.CallSure{AskedAt: now, Version: q.Version}
		sure.Token, err = s.sureToken(callID, to, sure)
		return q.Check(sure), err
	case (asks || checks) && key == message.CallNo:
		return s.answerCall(ctx, q, callID, message.ChatNo, heard)
	case asks && key == message.CallNotMe && q.Standing() == StandsOpen: // who said yes to it before is the right person
		return s.answerCall(ctx, q, callID, message.ChatNotMe, heard)
	}
	return q.Ask(), nil
}

// parseSure parses the state of a check question. It is false unless this call to this number asked it.
func (s *Service) parseSure(callID string, to phone.Number, state string) (message.CallSure, bool, error) {
	sure, ok := message.ParseCallSure(state)
	if !ok {
		return sure, false, nil
	}
	token, err := s.sureToken(callID, to, sure)
	return sure, subtle.ConstantTimeCompare([]byte(token), []byte(sure.Token)) == 1, err
}

// sureToken returns the token of a check question of a call.
func (s *Service) sureToken(callID string, to phone.Number, sure message.CallSure) (string, error) {
	sure.Token = "" // the state without it has the version
	return s.DB.CallToken(callID+" "+sure.String(), to, sure.AskedAt)
}

// answerCall records the answer of the person, who heard a version of the request, unless the question was closed or
// changed meanwhile.
func (s *Service) answerCall(ctx context.Context, q calledQuestion, callID string, action message.ChatAction, version int64) (message.CallPrompt, error) {
	var err error
	asked := q.Ask()
	heard := s.WordingOf(asked.Language, strings.Join(asked.Lines, "\n"))
	heard.Version = version
	switch action {
	case message.ChatSure:
		err = s.DecideOnly(ctx, q.By, q.PlayerID, approval.Decision{Action: approval.Approve, RequestID: q.RequestID, Wording: heard})
	case message.ChatNo:
		err = s.DecideOnly(ctx, q.By, q.PlayerID, approval.Decision{Action: approval.Reject, RequestID: q.RequestID, Wording: heard})
	case message.ChatNotMe:
		_, err = s.Dispute(ctx, q.By, q.RequestID, heard)
	}
	switch fault.KindOf(err) {
	case fault.Conflict, fault.NotFound:
		q, err = s.calledQuestion(ctx, callID, q.By.Number)
		if err != nil {
			return message.NotAsked(), nil
		}
		if q.CanAnswer() {
			return q.Changed(), nil
		}
		return s.callStands(ctx, q)
	}
	if approval.NeedsProof(err) {
		return q.Prove(), nil
	}
	if err != nil {
		return message.CallPrompt{}, err
	}
	return q.Done(action), nil
}

// callStands says how the question of a call stands that its key can not answer.
func (s *Service) callStands(ctx context.Context, q calledQuestion) (message.CallPrompt, error) {
	switch q.Standing() {
	case StandsNotAsked:
		return message.NotAsked(), nil
	case StandsReplaced: // the newest question has another message
		return q.Over(), nil
	case StandsApproved, StandsRejected:
		if err := s.AnsweredNames(ctx, q.Asked, &q.CoachName, &q.StudentName); err != nil {
			return message.CallPrompt{}, err
		}
	}
	return q.Stands(string(q.Standing())), nil
}

// calledQuestion returns the question of a call to a number.
func (s *Service) calledQuestion(ctx context.Context, callID string, to phone.Number) (q calledQuestion, err error) {
	var batches []approval.Batch
	err = s.DB.QueryRow(ctx, `
		SELECT `+AskedColumns+`,
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = a.mobile_number AND st.coach_id = r.coach_id),
			d.total_attempts > 0 AND (d.state <> 'failed' OR d.left_at IS NOT NULL), CASE WHEN d.lease IS NULL THEN d.updated_at END,
			r.approver_type, r.version, p.student_name, c.name, `+batchesOfPlayer+`, preferences.language
		FROM deliveries d
		JOIN requests r ON r.id = d.request_id`+AskedJoins+`
		LEFT JOIN coaches c ON c.id = r.coach_id
		LEFT JOIN preferences ON preferences.mobile_number = a.mobile_number
		WHERE d.id = $1 AND d.recipient = $2 AND d.channel = 'voice'`, callID, string(to)).
		Scan(append(q.Dest(), &q.stopped, &q.called, database.IntoTime(&q.sentAt),
			&q.Party, &q.Version, &q.StudentName, database.IntoText(&q.CoachName), intoBatches(&batches), database.IntoText(&q.Language))...)
	for _, b := range batches {
		q.BatchNames = append(q.BatchNames, b.Name)
	}
	q.By.Via, q.Brand = actor.ViaVoice, s.Brand
	return q, err
}
