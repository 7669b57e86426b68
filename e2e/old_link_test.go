package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/touchline/touchline/internal/message/mail/mailtest"
	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/message/whatsapp/whatsapptest"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// wantQuestion opens a link and checks the heading and the status of its page. A page that is not the
// question names no person.
func wantQuestion(t *testing.T, s *touchlinetest.Service, what, path, heading string) {
	t.Helper()
	status := http.StatusNotFound
	if strings.HasPrefix(heading, "May ") {
		status = http.StatusOK
	}
	page := s.Browser(t).Open(path)
	if page.Status != status || !strings.HasPrefix(page.Heading(), heading) {
		t.Errorf("%s: %d %q, want %d %q", what, page.Status, page.Heading(), status, heading)
	}
	if status != http.StatusOK && (strings.Contains(page.Body, "Asha") || strings.Contains(page.Body, "Meera")) {
		t.Errorf("%s: the page names somebody: %s", what, page.Body)
	}
}

const (
	openQuestion   = "May the Touchline app serve you about Asha Rao"
	oldQuestion    = "This link is old"
	closedQuestion = "This question is closed"
)

// TestOldLink: a request never expires, its link does. The page of an old link says so and leads
// through the sign-in to the question. Once the question was answered, the page says that it is closed.
func TestOldLink(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		link, students := linkPath(t, s, guardianNumber, 0), linkPath(t, s, studentNumber, 0)
		s.Clock.Advance(s.Config.LinkValidity + time.Second)
		wantQuestion(t, s, "after its validity", link, oldQuestion)
		wantQuestion(t, s, "an unknown link", "/a/never", closedQuestion)
		b := s.Browser(t)
		b.Send("POST", link+"/not-me", map[string][]string{})
		if b.Page.Status != http.StatusNotFound || b.Page.Heading() != oldQuestion {
			t.Errorf("\"not me\" by an old link: %d %q", b.Page.Status, b.Page.Heading())
		}
		page := b.Open(link)
		if !strings.Contains(page.Text(), "Sign in to answer.") {
			t.Errorf("the page of an old link: %s", page.Text())
		}
		b.Press("Sign in")
		codes := s.Sent(guardianNumber, "otp")
		b.Press("Send me a code", "role", "guardian", "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, codes))
		if !strings.HasSuffix(b.Page.Path, "/me/guardian/players/"+id+"/answer") || !strings.HasPrefix(b.Page.Heading(), openQuestion) {
			t.Errorf("after the sign-in: %s %q", b.Page.Path, b.Page.Heading())
		}
		s.SignIn(t, "student", studentNumber).Call(t, "PUT", "/api/approval/student-response", map[string]any{"player_id": id, "action": "rejected"}).Want(t, 200)
		wantQuestion(t, s, "after the answer", students, closedQuestion)
		wantQuestion(t, s, "after the other party's answer", link, oldQuestion)
	})
}

// TestLinkValidityCountsFromLeaving: a link is valid for its full time after its message left: after an
// outage of the gateway, after an operator's retry, after gathering and after a failover. It is not
// valid longer.
func TestLinkValidityCountsFromLeaving(t *testing.T) {
	t.Parallel()
	const validity, outage = 2 * time.Hour, 5 * time.Hour
	short := func(c *config.Config) {
		c.LinkValidity, c.MessagesGather, c.AccessTokenLifetime = validity, 2*time.Minute, 24*time.Hour
	}
	down := smstest.Behaviour{Status: 503}
	recovered := func(s *touchlinetest.Service, gateway *smstest.Gateway) {
		s.Clock.Advance(outage)
		gateway.Behave(smstest.Behaviour{})
		s.Clock.Advance(7 * time.Minute) // the longest wait between two attempts
	}
	ends := func(t *testing.T, s *touchlinetest.Service, what, link string) {
		t.Helper()
		wantQuestion(t, s, what, link, "May ")
		s.Clock.Advance(validity - time.Minute)
		wantQuestion(t, s, what+", before its end", link, "May ")
		s.Clock.Advance(time.Minute + time.Second)
		wantQuestion(t, s, what+", after its end", link, oldQuestion)
	}
	t.Run("outage", func(t *testing.T) {
		t.Parallel()
		touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
			coach := s.Coach(t, coachNumber)
			before := s.Gateway.Attempts()
			s.Gateway.Behave(down)
			coach.AddPlayer(t, child(1, guardianNumber))
			eventually(t, "an attempt", func() bool { return s.Gateway.Attempts() > before })
			recovered(s, s.Gateway)
			ends(t, s, "after an outage", linkPath(t, s, guardianNumber, 0))
		}, short)
	})
	t.Run("retry", func(t *testing.T) {
		t.Parallel()
		touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
			op, coach := s.Operator(t, operator.Deliveries), s.Coach(t, coachNumber)
			s.Gateway.Behave(smstest.Behaviour{Status: 400})
			coach.AddPlayer(t, child(1, guardianNumber))
			const list = "/api/admin/deliveries"
			var id string
			eventually(t, "the message failed", func() bool {
				for _, d := range op.Call(t, "GET", list, nil).Want(t, 200).Items() {
					id, _ = d["delivery_id"].(string)
				}
				return id != ""
			})
			s.Clock.Advance(outage)
			before := s.Gateway.Attempts()
			s.Gateway.Behave(down)
			op.Call(t, "POST", list+"/"+id+"/retry", nil).Want(t, 200)
			eventually(t, "an attempt", func() bool { return s.Gateway.Attempts() > before })
			recovered(s, s.Gateway)
			ends(t, s, "after a retry", linkPath(t, s, guardianNumber, 0))
		}, short)
	})
	t.Run("gather", func(t *testing.T) {
		t.Parallel()
		touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
			coach := s.Coach(t, coachNumber)
			coach.AddPlayer(t, child(0, guardianNumber))
			linkPath(t, s, guardianNumber, 0)
			s.Clock.Advance(90 * time.Second)
			second := coach.AddPlayer(t, child(1, guardianNumber)).String("guardian_request_id")
			eventually(t, "the request waits", func() bool {
				_, reason := smsDelivery(getRequest(t, coach, second))
				return reason == "gathering"
			})
			s.Clock.Advance(31 * time.Second)
			ends(t, s, "after gathering", linkPath(t, s, guardianNumber, 1))
		}, short)
	})
	t.Run("mail", func(t *testing.T) {
		t.Parallel()
		storetest.Either(t, func(t *testing.T, database string) {
			const address = "meera@families.example"
			server := mailtest.New(t, mailtest.Plain)
			s := touchlinetest.New(t, database, mailBy(server), short)
			coach := s.Coach(t, coachNumber)
			server.Behave(mailtest.Behaviour{Recipient: &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "try later"}})
			request := coach.AddPlayer(t, withMail(1, guardianNumber, address)).String("guardian_request_id")
			awaitMail(t, coach, request, "queued", "retrying")
			s.Clock.Advance(outage)
			server.Behave(mailtest.Behaviour{})
			s.Clock.Advance(7 * time.Minute)
			ends(t, s, "in a mail", pathOf(s, linkPattern.FindString(server.Wait(t, address, 0).Text)))
		})
	})
	t.Run("failover", func(t *testing.T) {
		t.Parallel()
		storetest.Either(t, func(t *testing.T, database string) {
			cloud, gateway := whatsapptest.New(t), smstest.New(t)
			s := touchlinetest.New(t, database, short, func(c *config.Config) {
				c.SMS, c.WhatsApp, c.Endpoints.WhatsApp = config.SecretURL(gateway.Spec()), []string{"request"}, cloud.API()
				c.WhatsAppAccount = config.WhatsAppAccount{
					PhoneID: config.Secret(cloud.PhoneID), Token: config.Secret(cloud.Token), AppSecret: config.Secret(cloud.AppSecret), VerifyToken: config.Secret(cloud.VerifyToken),
				}
			})
			s.Gateway = gateway
			for _, template := range whatsapp.NewTemplates(s.Config.Brand, s.Config.PublicURL) {
				body, err := json.Marshal(template)
				if err != nil {
					t.Fatal(err)
				}
				cloud.Create(t, body)
			}
			coach := s.Coach(t, coachNumber)
			gateway.Behave(down)
			before := gateway.Attempts()
			request := coach.AddPlayer(t, child(1, guardianNumber)).String("guardian_request_id")
			eventually(t, "WhatsApp accepts the message", func() bool {
				return deliveryOf(getRequest(t, coach, request)) == "chat queued awaiting_status"
			})
			s.Clock.Advance(10 * time.Minute) // no status: the message leaves by SMS
			eventually(t, "an attempt by SMS", func() bool { return gateway.Attempts() > before })
			recovered(s, gateway)
			ends(t, s, "after a failover", linkPath(t, s, guardianNumber, 0))
		})
	})
}
