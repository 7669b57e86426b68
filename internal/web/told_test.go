package web

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// saysTold finds the texts that say that someone was or will be told of something, by language.
var saysTold = map[string]*regexp.Regexp{
	"en": regexp.MustCompile(`(?i)\b(told|informed|notified|knows|gets|reminded|(is|are|was|were|we) (sent|asked)|on (its|their) way|gets? (a|an|no) (new question|message|reminder|SMS|mail))\b`),
	"hi": regexp.MustCompile(`बता(या|ई|ए) (गया|गई|गए|जाएगा|जाएगी)|को बताया|को पता है|सूचित|(भेज|भेजा|भेजी|भेजे) (दिया|दी|दिए|गया|गई|गए)|(भेजा|भेजी) (है|जाएगा|जाएगी)|रास्ते में`),
}

// Why a text is true that says that someone is told.
const (
	// counted texts are true of each person: the page reads what the transaction queued.
	counted = "TestToldAsQueued"
	// Texts about codes, decisions, disputes, closures and messages of coaches are held by the tests that read
	// the notifications and deliveries after the page or call.
	codes, decisions, closed, left = "TestOTPLifetime", "TestConsentEndToEnd", "TestAccountClosureSendsSMS", "TestDeleteFamilyAccount"
	numbers, mails, written        = "TestChangeNumber", "TestSignInByEmail", "TestMessages"
	sentences, adults, answers     = "TestToldSentences", "TestTurning18", "TestAnswerLink"
	// people is a test in a browser that compares the counts of channels with the messages that leave.
	people = "TestMessageCountsPeople"
	// marks is a test in a browser that counts the stored marks.
	marks = "TestWaitingMarks"
	// tellsNone: the text says that nothing is sent or told, or what the reader sent or said.
	tellsNone = ""
)

// heldTold has each text of a page that says so, and the test that holds it against the database. A new text fails
// TestToldTextsAreHeld: count the people with notice.Record, show the template "telling", and add the text here with its test.
var heldTold = map[string]string{
	"telling.told": counted, "telling.none": counted, "telling.rest": counted, "training.told": counted, "fee.reminders_used": counted,
	"player.done.reminded": sentences, "player.done.asked": sentences, "remove.told": sentences, "remind_all.ready": sentences, "remind_all.stopped": sentences,
	"remind_all.recent": tellsNone, "remind_all.used_up": tellsNone, "remind_all.undelivered": tellsNone,
	"check.rejected.what": decisions, "check.revoked.what": decisions, "done.approved.next": decisions, "done.rejected.next": decisions, "done.revoked.next": decisions,
	"not_me.what": sentences, "not_me.mail.what": tellsNone, "not_me.done.lead": sentences, "permission.disputed": sentences, "lift.done.lead": sentences,
	"end_view.what": adults, "training.link.yes": answers, "training.link.no": answers,
	"code.lead": codes, "code.lead.family": codes, "code.lead.unknown": codes, "code.lead.email": mails, "code.sent_again": codes, "code.sent_again.family": codes, "code.sent_again.email": mails,
	"email.code.lead": mails, "fault.otp_resend_too_soon": codes, "change_number.codes.lead": numbers, "change_number.sent_again": numbers,
	"close.players": closed, "delete.answers": left,
	"team_messages.done.sent": written, "team_message.state.queued": written, "team_message.reason.same_number": written, "message_form.audience": tellsNone, "message_preview.reached": written, "conversation.done.sent": written,
	"code.phones": tellsNone, "delivery.cause.opted_out": tellsNone, "delivery.reason.test_number": tellsNone, "delivery.email.test_number": tellsNone, "passkeys.lead": tellsNone,
	"history.notice": tellsNone, "disputes.at": tellsNone, "fee_add.for.hint": tellsNone, "unsubscribe.done.lead": tellsNone, "unsubscribe.done.here": tellsNone, "stopped_mail.text": tellsNone,
	"verify.lead": tellsNone, "import.lead": tellsNone, "fault.idempotency_key_reused": tellsNone, "fault.https_required": tellsNone,
	"notification.guardian_rejection_confirmed": decisions, "notification.guardian_revoked.own": decisions, "notification.student_revoked.own": decisions, "chat.too_many": tellsNone,
	"receipts.lead": tellsNone, "need.held.resend": tellsNone, "code.show.how": tellsNone, "fault.range_not_satisfiable": tellsNone, "fault.changed_meanwhile": tellsNone,
	"fee.told.student": tellsNone, "fee.told.guardian": tellsNone, "family_fee.told.done": tellsNone, "player.basis.said": tellsNone, "verification.submitted": tellsNone, "upload.progress": tellsNone,
	"verify.method.otp": tellsNone, "verify.method.link": tellsNone, "delivery.reason.address_stopped": tellsNone, "delivery.reason.stopped": tellsNone,
	"ways.all": people, "ways.left_out": people, "family_view.text": tellsNone,
	"team_message.state.sent": written, "delivery.sent": written,
	"offline.kept": tellsNone, "offline.sent": tellsNone, "offline.sign_in": tellsNone, "offline.sent_one": marks, "offline.sent_marks": marks, "offline.lost": tellsNone,
	"offline.others": tellsNone, "offline.ends": tellsNone, "attendance.note_needs_mark": tellsNone,
	"proof.withdraw.what": "TestProofEnds", "proof_how.minor": "TestProofAttempts",
}

// otherReaders begin the keys of texts that no coach and no family reads.
var otherReaders = []string{"operator.", "phones."}

// TestToldTextsAreHeld: each text of a page that says that someone is told has a test that compares it with what was queued.
func TestToldTextsAreHeld(t *testing.T) {
	found := map[string]bool{}
	for language, says := range saysTold {
		for key, text := range texts(t, language) {
			if says.MatchString(text) && !slices.ContainsFunc(otherReaders, func(begin string) bool { return strings.HasPrefix(key, begin) }) {
				found[key] = true
				if _, held := heldTold[key]; !held {
					t.Errorf("%s: %s says that someone is told: %q. Add it to heldTold with the test that compares it with the database", language, key, text)
				}
			}
		}
	}
	var tests strings.Builder
	for _, pattern := range []string{"../../e2e/*_test.go", "../../e2e/browser/*_test.go", "../*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(content)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(heldTold)) {
		if !found[key] {
			t.Errorf("heldTold has %s, which says no such thing", key)
		}
		if test := heldTold[key]; test != tellsNone && !strings.Contains(tests.String(), "func "+test+"(t *testing.T)") {
			t.Errorf("%s: there is no test %s", key, test)
		}
	}
	if templates, err := featureFiles("templates/*.html", "templates/*.html"); err != nil || len(templates) == 0 {
		t.Fatal(err)
	} else {
		for _, name := range templates {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			visible := regexp.MustCompile(`\{\{[^}]*\}\}|<[^>]*>`).ReplaceAllString(string(content), " ")
			if saysTold["en"].MatchString(visible) && !strings.Contains(name, "operator") && !strings.Contains(name, "dev_phones") {
				t.Errorf("%s says outside of its texts that someone is told", name)
			}
		}
	}
}
