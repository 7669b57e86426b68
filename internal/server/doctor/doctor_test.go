package doctor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/message/mail/mailtest"
	"github.com/touchline/touchline/internal/message/push/pushtest"
	"github.com/touchline/touchline/internal/message/whatsapp/whatsapptest"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/server/doctor"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// edges are the servers that an installation talks to.
type edges struct {
	mail *mailtest.Server
	chat *whatsapptest.Cloud
	fcm  *pushtest.FCM
}

func (e *edges) use(t *testing.T) touchlinetest.Option {
	e.mail, e.chat, e.fcm = mailtest.New(t, mailtest.STARTTLS), whatsapptest.New(t), pushtest.NewFCM(t)
	return func(c *config.Config) {
		c.Mail = config.SecretURL(e.mail.Setting("hello@touchline.example"))
		c.WhatsApp, c.Endpoints.WhatsApp = []string{"otp"}, e.chat.API()
		c.WhatsAppAccount = config.WhatsAppAccount{PhoneID: config.Secret(e.chat.PhoneID), Token: config.Secret(e.chat.Token), AppSecret: "x", VerifyToken: "x"}
		c.FCMServiceAccount, c.Endpoints.FCM = config.Secret(e.fcm.ServiceAccount()), e.fcm.URL
		c.Files = config.SecretURL("file:" + t.TempDir()) // the start marks a store that is set
		c.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
}

// find returns the results of a check, by their status.
func find(results []doctor.Result, check string, status doctor.Status) string {
	var found []string
	for _, r := range results {
		if r.Check == check && r.Status == status {
			found = append(found, r.Message)
		}
	}
	return strings.Join(found, "\n")
}

// TestHealthy: nothing fails in an installation that works, and nothing is sent.
func TestHealthy(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		var e edges
		s := touchlinetest.New(t, url, e.use(t))
		endpoint := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(endpoint.Close)
		s.Operator(t, operator.Webhooks).Call(t, "POST", "/api/admin/webhooks", map[string]any{"url": endpoint.URL}).Want(t, 201)
		results := doctor.Run(t.Context(), s.Config, doctor.Options{Now: s.Clock.Now})
		for _, r := range results {
			if r.Status == doctor.Failed || r.Message == "" || r.Check == "" {
				t.Errorf("%+v", r)
			}
		}
		for check, want := range map[string]string{
			"database": "has all migrations", "clock": "agrees", "sms": "accepts connections", "whatsapp": "accepts the access token", "mail": "accepts the connection and the account",
			"push": "Google accepts the service account", "webhooks": "Each enabled webhook can be reached", "files": "is that of this database",
		} {
			if got := find(results, check, doctor.OK); !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q in %+v", check, got, want, results)
			}
		}
		if n := s.Gateway.Attempts() + e.mail.Attempts() + len(e.chat.Messages()) + e.fcm.Calls(); n != 0 {
			t.Errorf("%d messages were sent", n)
		}
	})
}

// TestFaults breaks one thing at a time.
func TestFaults(t *testing.T) {
	t.Parallel()
	var e edges
	s := touchlinetest.New(t, storetest.SQLite(t), e.use(t))
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS() // no client trusts its certificate
	t.Cleanup(secure.Close)
	s.Operator(t, operator.Webhooks).Call(t, "POST", "/api/admin/webhooks", map[string]any{"url": secure.URL}).Want(t, 201)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	expired, key := certificate(t, -time.Hour)
	ending, endingKey := certificate(t, time.Hour)
	for name, tt := range map[string]struct {
		change        touchlinetest.Option
		check         string
		status        doctor.Status
		want          string
		now           time.Duration
		trusted       bool
		refuseAccount bool
	}{
		"webhook":         {check: "webhooks", status: doctor.Failed, want: "its certificate is invalid", change: func(*config.Config) {}},
		"no database":     {check: "database", status: doctor.Warning, want: "no database yet", change: func(c *config.Config) { c.DatabaseURL += "x" }},
		"not migrated":    {check: "database", status: doctor.Failed, want: "touchline migrate", change: emptyDatabase(t)},
		"restore cut off": {check: "database", status: doctor.Failed, want: `run "touchline restore" again`, change: unfinishedDatabase(t)},
		"database down":   {check: "database", status: doctor.Failed, want: "cannot be opened", change: func(c *config.Config) { c.DatabaseURL = "postgres://touchline@127.0.0.1:1/x" }},
		"gateway down":    {check: "sms", status: doctor.Failed, want: "is unreachable", change: func(c *config.Config) { c.SMS = "http:http://127.0.0.1:1/" }},
		"no gateway":      {check: "sms", status: doctor.Failed, want: "no message is sent", change: func(c *config.Config) { c.SMS, c.Addr = "log", ":8080" }},
		"clock ahead":     {check: "certificates", status: doctor.Failed, want: "refuse the certificate", now: 100 * 365 * 24 * time.Hour, trusted: true, change: publicURL(secure.URL)},
		"chat token":      {check: "whatsapp", status: doctor.Failed, want: "refused the access token", change: func(c *config.Config) { c.WhatsAppAccount.Token = "wrong" }},
		"mail password": {check: "mail", status: doctor.Failed, want: "refused the user or the password", change: func(c *config.Config) {
			c.Mail = config.SecretURL(strings.Replace(c.Mail.Reveal(), ":correct", ":wrong", 1))
		}},
		"mail down":       {check: "mail", status: doctor.Failed, want: "connect to the mail server", change: func(c *config.Config) { c.Mail = "smtp://127.0.0.1:1?from=hello@touchline.example" }},
		"service account": {check: "push", status: doctor.Failed, want: "FCM_SERVICE_ACCOUNT", refuseAccount: true, change: func(*config.Config) {}},
		"other master key": {check: "master key", status: doctor.Failed, want: "does not decrypt", change: func(c *config.Config) {
			c.MasterKeyBase64 = config.Secret(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
		}},
		"no master key":     {check: "master key", status: doctor.Failed, want: "There is no master key", change: func(c *config.Config) { c.DataDir = t.TempDir() }},
		"key in data":       {check: "master key", status: doctor.Warning, want: "keep a copy", change: func(*config.Config) {}},
		"files missing":     {check: "files", status: doctor.Failed, want: "does not exist", change: func(c *config.Config) { c.Files = "file:/nowhere" }},
		"other files":       {check: "files", status: doctor.Failed, want: "is not that of this database", change: func(c *config.Config) { c.Files = config.SecretURL("file:" + t.TempDir()) }},
		"no erasures":       {check: "erasures", status: doctor.Warning, want: "copy the newest one there", change: func(c *config.Config) { c.Erasures = "/nowhere/erasures" }},
		"no checkpoint":     {check: "checkpoint", status: doctor.Warning, want: "Neither LOG_CHECKPOINT nor LOG_WITNESSES", change: func(*config.Config) {}},
		"checkpoint folder": {check: "checkpoint", status: doctor.Failed, want: "Create it, or correct LOG_CHECKPOINT", change: checkpointFile(t, "/nowhere/checkpoint")},
		"checkpoint file":   {check: "checkpoint", status: doctor.Failed, want: "is a directory", change: checkpointFile(t, t.TempDir())},
		"first checkpoint":  {check: "checkpoint", status: doctor.OK, want: "yet", change: checkpointFile(t, filepath.Join(t.TempDir(), "checkpoint"))},
		"untrusted":         {check: "certificates", status: doctor.Failed, want: "refuse the certificate", change: publicURL(secure.URL)},
		"trusted":           {check: "certificates", status: doctor.OK, want: "is valid until", trusted: true, change: publicURL(secure.URL)},
		"nothing listens":   {check: "certificates", status: doctor.Warning, want: "accepts no TLS connection", change: publicURL("https://127.0.0.1:1")},
		"expired":           {check: "certificates", status: doctor.Failed, want: "renew it", change: func(c *config.Config) { c.TLSCert, c.TLSKey = expired, key }},
		"ending":            {check: "certificates", status: doctor.Warning, want: "was not renewed", change: func(c *config.Config) { c.TLSCert, c.TLSKey = ending, endingKey }},
		"wrong key":         {check: "certificates", status: doctor.Failed, want: "cannot be used together", change: func(c *config.Config) { c.TLSCert, c.TLSKey = ending, key }},
		"many connections":  {check: "limits", status: doctor.Warning, want: "raise the limit", change: func(c *config.Config) { c.MaxConnections = 1 << 40 }},
		"development":       {check: "settings", status: doctor.Warning, want: "This is development", change: func(c *config.Config) { c.SMS = "log" }},
		"public log":        {check: "settings", status: doctor.Warning, want: "LOG is public", change: func(c *config.Config) { c.Log = "public" }},
		"plain operators":   {check: "settings", status: doctor.Warning, want: "ADMIN_ADDR has no TLS", change: func(c *config.Config) { c.AdminAddr = ":8081" }},
		"dangerous setting": {check: "settings", status: doctor.Warning, want: "OTPs, and OTP_TRIES", change: func(c *config.Config) { c.OTPLength, c.OTPTries = 4, 100 }},
	} {
		t.Run(name, func(t *testing.T) {
			e.fcm.RefuseAccount(tt.refuseAccount)
			cfg := *s.Config
			tt.change(&cfg)
			o := doctor.Options{Now: func() time.Time { return s.Clock.Now().Add(tt.now) }}
			if tt.trusted {
				o.Roots = roots
			}
			results := doctor.Run(t.Context(), &cfg, o)
			if got := find(results, tt.check, tt.status); !strings.Contains(got, tt.want) {
				t.Errorf("got %+v, want %s: %q", results, tt.status, tt.want)
			}
		})
	}
}

// checkpointFile is the setting LOG_CHECKPOINT. Only a configuration that was loaded knows whether it is set.
func checkpointFile(t *testing.T, path string) touchlinetest.Option {
	return func(c *config.Config) {
		set, err := config.Load(nil, []string{"TOUCHLINE_LOG_CHECKPOINT=" + path, "TOUCHLINE_DATA_DIR=" + t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		*c = *set
	}
}

// TestRegistryOfIndia: each gateway is told which texts cannot be registered in India, if numbers of India may get SMS.
func TestRegistryOfIndia(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	for name, gateway := range map[string]struct{ setting, want string }{
		"http":   {"http:http://127.0.0.1:1/", "http: texts to numbers of India leave as free text"},
		"kannel": {"kannel:http://u:p@127.0.0.1:1/", "kannel: texts to numbers of India leave as free text"},
		"twilio": {"twilio:https://AC00000000000000000000000000000000:t@127.0.0.1:1?from=+15005550006", "twilio: texts to numbers of India leave as touchline sms-templates prints them"},
		"msg91":  {"msg91:https://k@127.0.0.1:1?header=TLINES&entity_id=12", "msg91: the registry of India refuses these texts, which leave by another provider"},
	} {
		cfg := *s.Config
		cfg.SMS, cfg.Countries = config.SecretURL(gateway.setting), []string{"GB", "IN"}
		cfg.MSG91Templates = []config.SMSTemplate{{Key: "otp_coach.en", ProviderID: "1", RegistryID: "2"}}
		run := func() string {
			return find(doctor.Run(t.Context(), &cfg, doctor.Options{Now: s.Clock.Now}), "sms", doctor.Warning)
		}
		got := run()
		for _, part := range []string{gateway.want, "team.en", "training_added.hi", "turned_18.en"} {
			if !strings.Contains(got, part) {
				t.Errorf("%s: no %q in %q", name, part, got)
			}
		}
		if missing := strings.Contains(got, "MSG91_TEMPLATES has no coach_left.en, otp_party.en"); missing != (name == "msg91") {
			t.Errorf("%s: templates are missing: %t in %q", name, missing, got)
		}
		if strings.Contains(got, "otp_coach.en") {
			t.Errorf("%s: a registered template is named: %q", name, got)
		}
		cfg.Countries = []string{"GB"}
		if got := run(); got != "" {
			t.Errorf("%s, without India: %q", name, got)
		}
	}
}

// TestPostgresConnections: a pool that PostgreSQL cannot serve is reported.
func TestPostgresConnections(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.Postgres(t))
	cfg := *s.Config
	cfg.DatabaseURL = config.SecretURL(strings.Replace(cfg.DatabaseURL.Reveal(), "pool_max_conns=3", "pool_max_conns=900", 1))
	results := doctor.Run(t.Context(), &cfg, doctor.Options{Now: s.Clock.Now})
	if got := find(results, "connections", doctor.Failed); !strings.Contains(got, "may open 900 connections") {
		t.Errorf("got %+v", results)
	}
	results = doctor.Run(t.Context(), s.Config, doctor.Options{Now: func() time.Time { return s.Clock.Now().Add(time.Minute) }})
	if got := find(results, "clock", doctor.Failed); !strings.Contains(got, "1m0s ahead of the clock of the database") {
		t.Errorf("got %+v", results)
	}
}

// TestConnectionLimitOfRole: a role whose connections do not suffice for another replica, and one that has none left.
func TestConnectionLimitOfRole(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.Postgres(t))
	cfg := *s.Config
	owner, err := pgx.Connect(t.Context(), strings.Replace(cfg.DatabaseURL.Reveal(), "pool_max_conns=3&", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(t.Context())
	role := strings.ToLower("limited_" + rand.Text())
	u, err := url.Parse(cfg.DatabaseURL.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	u.User = url.UserPassword(role, password)
	cfg.DatabaseURL = config.SecretURL(strings.Replace(u.String(), "pool_max_conns=3", "pool_max_conns=30", 1))
	execute := func(statement string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	execute(`CREATE ROLE ` + role + ` LOGIN CONNECTION LIMIT 20 PASSWORD '` + password + `' IN ROLE pg_read_all_data`)
	defer execute(`DROP ROLE ` + role)
	for limit, want := range map[string]struct {
		check, text string
		status      doctor.Status
	}{
		"20": {"connections", "of its 20 connections in use", doctor.Warning},
		"0":  {"database", "takes no more connections", doctor.Failed},
	} {
		execute(`ALTER ROLE ` + role + ` CONNECTION LIMIT ` + limit)
		results := doctor.Run(t.Context(), &cfg, doctor.Options{Now: s.Clock.Now})
		if got := find(results, want.check, want.status); !strings.Contains(got, want.text) {
			t.Errorf("limit %s: got %+v", limit, results)
		}
	}
}

func publicURL(address string) touchlinetest.Option {
	return func(c *config.Config) { c.PublicURL = address }
}

// unfinishedDatabase is the target of a restore that was interrupted.
func unfinishedDatabase(t *testing.T) touchlinetest.Option {
	t.Helper()
	url := storetest.SQLite(t)
	db, err := database.Open(t.Context(), url, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(t.Context(), `INSERT INTO installation (name, value) VALUES ($1, '{"command": "restore", "source": "backup of yesterday"}')`, dump.Unfinished)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return func(c *config.Config) { c.DatabaseURL = config.SecretURL(url) }
}

func emptyDatabase(t *testing.T) touchlinetest.Option {
	path := "sqlite:" + filepath.Join(t.TempDir(), "empty.db")
	db, err := database.Open(t.Context(), path, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return func(c *config.Config) { c.DatabaseURL = config.SecretURL(path) }
}

// certificate writes a certificate that ends after a time, and its key, of a lifetime of 90 days.
func certificate(t *testing.T, ends time.Duration) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(ends)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.AddDate(0, 0, -90), NotAfter: end, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tls.LoadX509KeyPair(certFile, keyFile); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}
