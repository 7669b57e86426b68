package conversation

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

const (
	// maxCodesPerHour is how many answers about a sign-in a number gets in an hour.
	maxCodesPerHour = 5
	// signInKept is how old a message may be that asks for a code. The provider repeats calls for days.
	signInKept = time.Hour
	// clockTolerance is how far the clock of the provider may be behind.
	clockTolerance = time.Minute
)

// answerSignIn answers a person who asks for a code, in the chat with the number itself: with the code of the
// open challenge, else with the page of the sign-in. family is true for a number of a family.
//
// A repeated call changes nothing: the transaction that counts the answer notes the message. If WhatsApp does not
// take the answer, the note goes, so that the call that the provider repeats answers.
func (in *Inbox) answerSignIn(ctx context.Context, r message.Reply, family bool) error {
	first, err := in.countSignIn(ctx, r, family)
	if err != nil || !first {
		return err
	}
	answer, err := in.signInAnswer(ctx, r, family)
	if err == nil {
		err = in.say(ctx, r, answer)
	}
	if err != nil {
		return errors.Join(err, outbox.ForgetReply(ctx, in.DB, r))
	}
	return nil
}

// answerBySMS answers a person who asks for a code by SMS with the code of the open challenge. Without one nothing leaves, because an
// SMS costs, and the text goes to the coach: answered is false.
func (in *Inbox) answerBySMS(ctx context.Context, r message.Reply) (answered bool, err error) {
	first, err := in.countSignIn(ctx, r, false)
	if err != nil || !first {
		return true, err
	}
	answered, err = in.SendCode(ctx, r.From, writtenBy(r))
	if err != nil || !answered {
		err = errors.Join(err, outbox.ForgetReply(ctx, in.DB, r))
	}
	return answered, err
}

// countSignIn counts an answer about a sign-in. It returns false if the message gets none: it is too old, it was answered, or the
// number got maxCodesPerHour.
func (in *Inbox) countSignIn(ctx context.Context, r message.Reply, family bool) (first bool, err error) {
	if !r.SentAt.IsZero() && in.Now().Sub(r.SentAt) > signInKept {
		return false, nil
	}
	err = in.DB.Write(ctx, func(tx *store.Tx) error {
		isNew, err := outbox.IsNewReply(ctx, tx.Tx, r)
		if err != nil {
			return err
		}
		if !isNew {
			return errAnswered
		}
		limits := []auth.Limit{{Name: "sign_in_answers_per_hour", Key: "chat_code/" + string(r.From), Max: maxCodesPerHour, Per: time.Hour}}
		exceeded, err := auth.CountOccurrence(ctx, tx, tx.Now, limits)
		switch {
		case err != nil:
			return err
		case exceeded != nil:
			return errAnswered
		}
		if !family {
			return nil
		}
		return noteWriter(ctx, tx, r)
	})
	if errors.Is(err, errAnswered) {
		return false, nil
	}
	return err == nil, fault.Wrap(err, "count an answer about a sign-in")
}

// errAnswered rolls the transaction of countSignIn back: the message gets no answer.
var errAnswered = errors.New("this message gets no answer")

func (in *Inbox) signInAnswer(ctx context.Context, r message.Reply, family bool) (message.ChatAnswer, error) {
	open, found, err := in.OpenCode(ctx, r.From, writtenBy(r))
	if err != nil {
		return message.ChatAnswer{}, err
	}
	language := open.Language
	if language == "" {
		language = in.language(ctx, r.From)
	}
	if language == "" {
		language = r.SignInLanguage(in.Brand)
	}
	if found {
		return message.SignInCode(language, in.Brand, open.Code, open.AskedWith, in.Now().Sub(open.AskedAt)), nil
	}
	role := "coach"
	if family {
		role = "family"
	}
	return message.NoSignIn(language, in.Brand, in.PublicURL+"/sign-in/"+role), nil
}

// writtenBy returns the latest time at which a message was written by the clock of this service, or zero for now.
func writtenBy(r message.Reply) time.Time {
	if r.SentAt.IsZero() {
		return r.SentAt
	}
	return r.SentAt.Add(clockTolerance)
}
