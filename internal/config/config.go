package config

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/touchline/touchline/internal/phone"
)

// Config is every setting of the service. Each field is one setting: its tags are
// the only place where its name, default, limits and meaning are written down,
// and flags, environment, faults, the printed table and docs/settings.md are made
// from them. The tags:
//
//	env      the name, less TOUCHLINE_; the flag is the same in lower case with dashes
//	default  the default as it would be written
//	shown    what stands for the default where that follows from other settings
//	help     what it means
//	min, max the limits of numbers and durations
//	oneof    the words accepted
//	zero     what 0 means; without it 0 is judged like any other value
//	secret   all: never shown, no flag; url, codes: shown less its secret part.
//	         Each may also come from the file that <name>_FILE names
//	later    the values accepted while the setting is not built yet
//
// Load makes one; the zero Config is not useful, see Defaults.
type Config struct {
	Addr           string         `env:"ADDR" default:"127.0.0.1:8080" help:"where the service listens, host:port; port 0 takes a free one, an empty host every interface"`
	AdminAddr      string         `env:"ADMIN_ADDR" default:"off" help:"where the operators' listener listens, host:port; keep it off the public network"`
	PublicURL      string         `env:"PUBLIC_URL" shown:"from ADDR" help:"how the outside reaches the service: links in messages, the issuer of tokens; http or https, without path or query"`
	TLSCert        string         `env:"TLS_CERT" default:"off" help:"file with the certificate of ADDR and those that vouch for it, in PEM; with it the service speaks TLS, and reads a renewed one within a minute"`
	TLSKey         string         `env:"TLS_KEY" default:"off" help:"file with the key of TLS_CERT, in PEM"`
	TrustedProxies []netip.Prefix `env:"TRUSTED_PROXIES" default:"none" help:"addresses or CIDR ranges, by commas, whose X-Forwarded-For is believed; none believes nobody"`

	DataDir             string    `env:"DATA_DIR" default:"touchline-data" help:"folder for whatever the service keeps on disk unless told otherwise"`
	MasterKeyBase64     Secret    `env:"MASTER_KEY" shown:"master.key in DATA_DIR, made on first start" secret:"all" help:"32 bytes in base64 that wrap the signing and OTP keys in the database; the same for all replicas"`
	DatabaseURL         SecretURL `env:"DATABASE_URL" shown:"sqlite:touchline.db in DATA_DIR" secret:"url" help:"the database: sqlite:<path> or postgres://…"`
	DatabaseConnections int       `env:"DATABASE_CONNECTIONS" default:"16" min:"2" max:"1000" help:"most connections to PostgreSQL of one process; SQLite has one writer and as many readers as cores"`

	Files  SecretURL `env:"FILES" shown:"files in DATA_DIR" secret:"url" help:"where uploaded documents are kept: file:<path>, or s3://<key>:<secret>@<bucket>/<prefix>?endpoint=<url>&region=<region>"`
	ClamAV string    `env:"CLAMAV" default:"off" help:"virus scanner for uploads: the socket of clamd, unix:<path> or tcp:<host>:<port>"`

	SMS           SecretURL    `env:"SMS" default:"log" secret:"url" help:"how an SMS leaves: log prints it to the terminal, for development; http:<url>, or the address alone, posts it as JSON to a gateway"`
	DefaultRegion string       `env:"DEFAULT_REGION" default:"IN" help:"ISO 3166 country of a number written without its country code"`
	Countries     []string     `env:"COUNTRIES" shown:"DEFAULT_REGION alone; * while SMS is log" help:"ISO 3166 countries to which an SMS may go, by commas; * is all"`
	TestNumbers   []TestNumber `env:"TEST_NUMBERS" default:"none" secret:"codes" help:"numbers with a fixed code, for app-store review, that get no SMS and can be linked with one another alone: +919900000001=123456@2027-01-31,… where the date is the last day, UTC"`

	OTPLength              int           `env:"OTP_LENGTH" default:"6" min:"4" max:"10" help:"digits of an OTP"`
	OTPValidity            time.Duration `env:"OTP_VALIDITY" default:"5m" min:"1s" max:"24h" help:"how long an OTP can be used"`
	OTPTries               int           `env:"OTP_TRIES" default:"5" min:"1" max:"100" help:"wrong tries after which an OTP is dead"`
	OTPResendAfter         time.Duration `env:"OTP_RESEND_AFTER" default:"60s" min:"0s" max:"24h" zero:"off" help:"wait between two sends to a number and role"`
	OTPSendsPerHour        int           `env:"OTP_SENDS_PER_HOUR" default:"5" min:"0" max:"1000000000" zero:"off" help:"sends an hour to a number"`
	OTPSendsPerDay         int           `env:"OTP_SENDS_PER_DAY" default:"10" min:"0" max:"1000000000" zero:"off" help:"sends in 24 h to a number"`
	OTPSendsPerAddressHour int           `env:"OTP_SENDS_PER_ADDRESS_HOUR" default:"20" min:"0" max:"1000000000" zero:"off" help:"sends an hour asked for by one network address (/64 for IPv6)"`
	OTPSendsTotalHour      int           `env:"OTP_SENDS_TOTAL_HOUR" default:"1000" min:"0" max:"1000000000" zero:"off" help:"sends an hour in all"`
	OTPWrongPerDay         int           `env:"OTP_WRONG_PER_DAY" default:"10" min:"1" max:"1000" help:"wrong tries at a number over all its codes in 24 h, then none for 24 h"`

	AccessTokenLifetime  time.Duration `env:"ACCESS_TOKEN_LIFETIME" default:"15m" min:"1s" max:"24h" help:"how long an access token is good"`
	RefreshTokenIdle     time.Duration `env:"REFRESH_TOKEN_IDLE" default:"336h" shown:"336h, at most REFRESH_TOKEN_LIFETIME" min:"1s" max:"87600h" help:"a session that is not refreshed for so long ends"`
	RefreshTokenLifetime time.Duration `env:"REFRESH_TOKEN_LIFETIME" default:"720h" min:"1s" max:"87600h" help:"a session ends so long after sign-in, used or not"`
	RefreshGrace         time.Duration `env:"REFRESH_GRACE" default:"30s" min:"0s" max:"1h" zero:"none" help:"how long after its successor's first use an old refresh token is refused without ending the session"`

	ResendAfter          time.Duration `env:"RESEND_AFTER" default:"48h" min:"1ms" max:"8760h" help:"wait before a pending approval request can be sent again"`
	RemindersPerWindow   int           `env:"REMINDERS_PER_WINDOW" default:"2" min:"1" max:"1000" help:"reminders for a player and party in any REMINDER_WINDOW"`
	ReminderWindow       time.Duration `env:"REMINDER_WINDOW" default:"168h" min:"1ms" max:"2160h" help:"the window in which reminders are counted"`
	PendingReminderAfter time.Duration `env:"PENDING_REMINDER_AFTER" default:"72h" min:"1ms" max:"8760h" help:"a coach is reminded of requests that have been pending for longer"`
	PendingReminderEvery time.Duration `env:"PENDING_REMINDER_EVERY" default:"72h" min:"1ms" max:"8760h" help:"wait before the coach is reminded of them again"`
	LinkValidity         time.Duration `env:"LINK_VALIDITY" default:"336h" min:"1s" max:"8760h" help:"how long the link in a message works"`

	MessagesPerNumberFromCoach int `env:"MESSAGES_PER_NUMBER_FROM_COACH" default:"6" min:"0" max:"1000000000" zero:"off" help:"approval messages in 24 h to a number from one coach; beyond it they wait"`
	MessagesPerNumber          int `env:"MESSAGES_PER_NUMBER" default:"20" min:"0" max:"1000000000" zero:"off" help:"approval messages in 24 h to a number from all coaches"`
	MessagesPerCoach           int `env:"MESSAGES_PER_COACH" default:"200" min:"0" max:"1000000000" zero:"off" help:"approval messages in 24 h from one coach, whatever the tier; where it is not set, the tier says how many"`

	ProfileRequired          []string `env:"PROFILE_REQUIRED" default:"name,bio,experience_years,sports" help:"what a complete coach profile has, by commas: name, bio, experience_years, sports, email, certifications, profile_picture; none asks for nothing"`
	KYC                      bool     `env:"KYC" default:"off" help:"coaches are verified by operators; what needs it, the tiers say"`
	Tiers                    string   `env:"TIERS" default:"built-in" help:"file with the subscription tiers, in JSON as docs/tiers.md says"`
	RequireGuardianForMinors bool     `env:"REQUIRE_GUARDIAN_FOR_MINORS" default:"off" help:"a student under 18 gets app services only once the guardian has approved too"`
	AllowCoachAsContact      bool     `env:"ALLOW_COACH_AS_CONTACT" default:"off" help:"a guardian's or student's number may be the coach's own"`
	RequestsPerAddressMinute int      `env:"REQUESTS_PER_ADDRESS_MINUTE" default:"600" min:"0" max:"1000000000" zero:"off" help:"requests a minute from one network address (/64 for IPv6), counted by each process"`

	ShutdownDrain time.Duration `env:"SHUTDOWN_DRAIN" default:"1s" min:"0s" max:"10m" zero:"none" help:"time between saying not ready and taking no more connections, for load balancers to notice"`
	LogLevel      slog.Level    `env:"LOG_LEVEL" default:"info" oneof:"debug,info,warn,error" help:"least level that is logged"`
	LogFormat     string        `env:"LOG_FORMAT" default:"text" oneof:"text,json" help:"how log lines are written"`

	TLSAutocertDomains string `env:"TLS_AUTOCERT_DOMAINS" default:"off" later:"off" help:"names for which certificates are fetched by ACME"`
	OTPFraudRule       string `env:"OTP_FRAUD_RULE" default:"off" later:"off" help:"refuse unknown devices where codes to a block of numbers go unused"`

	// set is where each setting that is not its default came from, by env name.
	set map[string]origin
}

// TestNumber is a number whose OTP is fixed: it gets no SMS.
type TestNumber struct {
	Number phone.Number
	Code   Secret
	// Until is the first instant at which the number is an ordinary one again.
	Until time.Time
}
