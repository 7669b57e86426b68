package config

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/witness"
)

// Config holds every setting of the service. Each field with an env tag is one setting. Its tags are
// the only source of its flag, environment variable, limits, errors, help and row in
// docs/settings.md:
//
//	env      the name without TOUCHLINE_; the flag is the same in lower case with dashes
//	default  the default as an operator would write it
//	shown    the text to show for a default that depends on other settings
//	help     the meaning
//	min, max the limits of numbers and durations
//	oneof    the accepted words
//	zero     the meaning of 0; without it 0 has no special meaning
//	development  off: 0 in development, unless the setting is set (see Development)
//	secret   all: never shown, no flag; url, codes: shown without the secret part.
//	         A secret can also be read from the file that <name>_FILE names
//
// Load and Defaults return a Config; the zero Config is not valid.
type Config struct {
	Addr               string         `env:"ADDR" default:"127.0.0.1:8080" help:"address of the API listener, host:port; port 0 takes a free port, an empty host listens on every interface"`
	AdminAddr          string         `env:"ADMIN_ADDR" default:"off" help:"address of the operators' listener, host:port; keep it off the public network"`
	PublicURL          string         `env:"PUBLIC_URL" shown:"from ADDR" help:"URL at which clients reach the service, used in links and as the issuer of tokens; https, or http on a loopback address, without path or query"`
	InsecureHTTP       bool           `env:"INSECURE_HTTP" default:"off" help:"allow http on a PUBLIC_URL that is not loopback, and requests that a trusted proxy received over http, for a test; others can read tokens and OTPs"`
	TLSCert            string         `env:"TLS_CERT" default:"off" help:"PEM file with the certificate chain of ADDR and ADMIN_ADDR; turns TLS on; a renewed file is read within a minute"`
	TLSKey             string         `env:"TLS_KEY" default:"off" help:"PEM file with the private key of TLS_CERT"`
	TLSAutocertDomains string         `env:"TLS_AUTOCERT_DOMAINS" default:"off" help:"domain names, separated by commas, whose certificates the service gets and renews from an ACME service such as Let's Encrypt; turns TLS on; setting it accepts the terms of that service"`
	Brand              string         `env:"BRAND" default:"Touchline" help:"name of the service on pages and in messages, 1 to 30 characters"`
	AppURL             string         `env:"APP_URL" default:"none" help:"http or https URL that opens the app; pages then offer it beside their own forms"`
	AndroidAppHash     string         `env:"ANDROID_APP_HASH" default:"none" help:"the 11 characters by which the SMS Retriever of Android recognizes OTPs for the app; each OTP with space for them contains them"`
	TrustedProxies     []netip.Prefix `env:"TRUSTED_PROXIES" default:"none" help:"addresses or CIDR ranges, separated by commas, of the proxies whose X-Forwarded-For is trusted"`
	CORSOrigins        []string       `env:"CORS_ORIGINS" default:"none" help:"origins whose browser apps may call the API, separated by commas, such as https://app.example; every other origin is refused, and cookies are never accepted"`
	PasskeyApps        []PasskeyApp   `env:"PASSKEY_APPS" default:"none" help:"native apps that may use passkeys of the service, separated by commas: com.example.app=<SHA-256 fingerprint of the certificate that signs the app, as keytool prints it> on Android, ABCDE12345.com.example.app (team and bundle) on iOS; the service then has the association files of both systems"`
	WebhookNetworks    []netip.Prefix `env:"WEBHOOK_NETWORKS" default:"none" help:"private addresses or CIDR ranges, separated by commas, to which webhooks may be sent, also over http; other private addresses are refused"`

	DataDir            string    `env:"DATA_DIR" default:"touchline-data" help:"folder for the files of the service, unless another setting names another place; :memory: is a temporary folder that serve deletes when it stops"`
	MasterKeyBase64    Secret    `env:"MASTER_KEY" shown:"master.key in DATA_DIR, created at the first start" secret:"all" help:"32 bytes in base64 that encrypt the signing and OTP keys in the database; the same for all replicas; MASTER_KEY_FILE must exist, because the service creates only master.key in DATA_DIR"`
	NewMasterKeyBase64 Secret    `env:"MASTER_KEY_NEW" shown:"the file of the master key with .new at its end, if it exists" secret:"all" help:"the next master key, which is accepted beside MASTER_KEY while touchline keys rotate replaces it; its file may be missing"`
	DatabaseURL        SecretURL `env:"DATABASE_URL" shown:"sqlite:touchline.db in DATA_DIR" secret:"url" help:"database: sqlite:<path> or postgres://…; pool_max_conns in its query is the maximum number of connections of one process, 16 without it"`

	Files  SecretURL `env:"FILES" shown:"files in DATA_DIR" secret:"url" help:"storage of uploaded documents: file:<path>, or s3://<key>:<secret>@<bucket>/<prefix>?endpoint=<url>&region=<region>"`
	ClamAV string    `env:"CLAMAV" default:"off" help:"socket of clamd, which scans uploads for viruses: unix:<path> or tcp:<host>:<port>"`

	SMS SecretURL `env:"SMS" default:"log" secret:"url" help:"SMS providers in the order in which they are tried, separated by commas: log prints messages to the terminal, for development; http:<url>, or the URL alone, posts them as JSON to a gateway; kannel:<url>, twilio:<url> and msg91:<url> contain the account, docs/operating.md shows how"`

	MSG91Templates []SMSTemplate `env:"MSG91_TEMPLATES" default:"none" help:"templates at MSG91, separated by commas, as <name>.<language>=<id of MSG91>/<DLT id>; touchline sms-templates lists their names and texts"`

	WhatsApp        []string        `env:"WHATSAPP" default:"none" help:"what leaves by WhatsApp first, separated by commas: otp (OTPs), request (approval requests and their reminders); it leaves by SMS if WhatsApp cannot deliver it. Messages of coaches on the channel chat leave by WhatsApp with any value; chat sets nothing else. log, the default in development, shows messages in place of sending them"`
	WhatsAppAccount WhatsAppAccount `env:"WHATSAPP_ACCOUNT" shown:"none" secret:"all" help:"account in the WhatsApp Cloud API: phone_id=<digits>,token=<access token>,app_secret=<secret of the app>,verify_token=<token that you choose>, and number=+<number of the account> if people may ask for a sign-in code by WhatsApp; in a file each part may have a line"`

	Voice SecretURL `env:"VOICE" default:"off" secret:"url" help:"calls that speak an OTP or ask a question: off; log, the default in development, shows calls in place of making them; twilio calls with the account of Twilio in SMS, and twilio:<url> with another one; http:<url> posts them as JSON to a gateway; docs/operating.md shows how"`

	Mail SecretURL `env:"MAIL" default:"off" secret:"url" help:"mail server and sender: smtp://user:password@host:587?from=<address> with STARTTLS, smtps://user:password@host:465?from=<address> with TLS from the start; without a user there is no authentication; smtp to a loopback address needs no TLS; the options ca and bounce_secret are in docs/operating.md"`

	FCMServiceAccount Secret `env:"FCM_SERVICE_ACCOUNT" shown:"none" secret:"all" help:"service account of a Firebase project, the JSON file of Google; apps of the project get push messages by FCM HTTP v1"`

	DefaultRegion string       `env:"DEFAULT_REGION" default:"IN" help:"ISO 3166 country of numbers that are written without a country code"`
	MobileRanges  []string     `env:"MOBILE_RANGES" default:"none" help:"beginnings of mobile numbers that the data of the build do not have, separated by commas, such as +9155; the service takes each number of these ranges that is as long as a mobile number of its country"`
	Countries     []string     `env:"COUNTRIES" shown:"DEFAULT_REGION; * if SMS is log" help:"ISO 3166 countries whose numbers may get an SMS, separated by commas; * allows all"`
	SMSPrices     []SMSPrice   `env:"SMS_PRICES" default:"none" help:"price of an SMS segment by ISO 3166 country, * for the others, separated by commas: IN=0.12,*=4.00, in the currency of DEFAULT_REGION, or in another one: IN=0.0083USD,*=0.05USD; of a call: IN/call=0.60; of a WhatsApp message in a template: IN/whatsapp=0.12 (utility) and IN/whatsapp_otp=0.12 (authentication); without one it costs as much as a segment"`
	SMSBudget     Budget       `env:"SMS_BUDGET" default:"none" help:"cost of SMS in any 24 h at SMS_PRICES, and of calls: 500,calls=100; OTPs to numbers that do not hold the role and all other messages stop at 80 %"`
	TestNumbers   []TestNumber `env:"TEST_NUMBERS" default:"none" secret:"codes" help:"numbers with a fixed OTP for app-store review, as number=OTP@last day (UTC), separated by commas: +919900000001=123456@2027-01-31; they get no SMS and can be linked only with each other"`

	OTPLength              int           `env:"OTP_LENGTH" default:"6" min:"4" max:"10" help:"digits of an OTP"`
	OTPValidity            time.Duration `env:"OTP_VALIDITY" default:"5m" min:"1s" max:"24h" help:"lifetime of an OTP"`
	OTPTries               int           `env:"OTP_TRIES" default:"5" min:"1" max:"100" help:"wrong attempts after which an OTP is invalid"`
	OTPResendAfter         time.Duration `env:"OTP_RESEND_AFTER" default:"60s" development:"off" min:"0s" max:"24h" zero:"off" help:"minimum time between two OTPs to one number and role"`
	OTPSendsPerHour        int           `env:"OTP_SENDS_PER_HOUR" default:"5" development:"off" min:"0" max:"1000000000" zero:"off" help:"OTPs per hour to one number"`
	OTPSendsPerDay         int           `env:"OTP_SENDS_PER_DAY" default:"10" development:"off" min:"0" max:"1000000000" zero:"off" help:"OTPs in 24 h to one number"`
	OTPSendsPerAddressHour int           `env:"OTP_SENDS_PER_ADDRESS_HOUR" default:"20" development:"off" min:"0" max:"1000000000" zero:"off" help:"OTPs per hour requested from one network address (/64 for IPv6)"`
	OTPSendsTotalHour      int           `env:"OTP_SENDS_TOTAL_HOUR" default:"1000" development:"off" min:"0" max:"1000000000" zero:"off" help:"OTPs per hour in total"`
	OTPWrongPerDay         int           `env:"OTP_WRONG_PER_DAY" default:"10" min:"1" max:"1000" help:"wrong attempts in 24 h at one number, over all its OTPs; then the number is blocked for 24 h"`
	OTPFraudRule           bool          `env:"OTP_FRAUD_RULE" default:"on" help:"refuse OTPs for new coaches in a block of 10,000 numbers, or in a country other than DEFAULT_REGION, while most OTPs sent there are not used"`

	AccessTokenLifetime  time.Duration `env:"ACCESS_TOKEN_LIFETIME" default:"15m" min:"1s" max:"24h" help:"lifetime of an access token"`
	RefreshTokenIdle     time.Duration `env:"REFRESH_TOKEN_IDLE" default:"336h" shown:"336h, at most REFRESH_TOKEN_LIFETIME" min:"1s" max:"87600h" help:"a session ends if it is not refreshed for this time"`
	RefreshTokenLifetime time.Duration `env:"REFRESH_TOKEN_LIFETIME" default:"720h" min:"1s" max:"87600h" help:"a session ends this time after sign-in"`
	RefreshGrace         time.Duration `env:"REFRESH_GRACE" default:"30s" min:"0s" max:"1h" zero:"none" help:"time after the first use of a new refresh token in which the old one is refused without ending the session"`

	ResendAfter          time.Duration `env:"RESEND_AFTER" default:"48h" min:"1ms" max:"8760h" help:"minimum time before a pending approval request can be sent again"`
	RemindersPerWindow   int           `env:"REMINDERS_PER_WINDOW" default:"2" min:"1" max:"1000" help:"reminders per player and party in any REMINDER_WINDOW"`
	ReminderWindow       time.Duration `env:"REMINDER_WINDOW" default:"168h" min:"1ms" max:"2160h" help:"sliding window in which reminders are counted"`
	PendingReminderAfter time.Duration `env:"PENDING_REMINDER_AFTER" default:"72h" min:"1ms" max:"8760h" help:"a coach is reminded of requests that are pending for longer than this"`
	PendingReminderEvery time.Duration `env:"PENDING_REMINDER_EVERY" default:"72h" min:"1ms" max:"8760h" help:"minimum time between two such reminders to a coach"`
	LinkValidity         time.Duration `env:"LINK_VALIDITY" default:"336h" min:"1s" max:"8760h" help:"lifetime of the link in a message, from when the message leaves"`

	MessagesGather             time.Duration `env:"MESSAGES_GATHER" default:"2m" development:"off" min:"0s" max:"1h" zero:"off" help:"the first request of a coach to a number leaves at once; requests of the next minutes leave together in one SMS"`
	MessagesTotalHour          int           `env:"MESSAGES_TOTAL_HOUR" default:"2000" development:"off" min:"0" max:"1000000000" zero:"off" help:"SMS segments per hour in total, except OTPs; half is kept for coaches who registered 7 days ago or earlier; more messages wait"`
	MessagesTotalDay           int           `env:"MESSAGES_TOTAL_DAY" default:"20000" development:"off" min:"0" max:"1000000000" zero:"off" help:"the same in 24 h"`
	MessagesPerAddress         int           `env:"MESSAGES_PER_ADDRESS" default:"400" development:"off" min:"0" max:"1000000000" zero:"off" help:"SMS segments in 24 h requested from one network address (/64 for IPv6) by coaches in their first 7 days"`
	MessagesPerBlock           int           `env:"MESSAGES_PER_BLOCK" default:"200" development:"off" min:"0" max:"1000000000" zero:"off" help:"SMS segments in 24 h from coaches in their first 7 days to one block of 10,000 numbers, to numbers that never signed in"`
	MessagesNewCoach           int           `env:"MESSAGES_NEW_COACH" default:"40" development:"off" min:"0" max:"1000000000" zero:"off" help:"SMS segments in 24 h from one coach in the first 7 days, and 10 more for each number that approved, at most 200; not for coaches whom an operator verified"`
	MessagesPerNumberFromCoach int           `env:"MESSAGES_PER_NUMBER_FROM_COACH" default:"6" development:"off" min:"0" max:"1000000000" zero:"off" help:"SMS segments of approval messages in 24 h to one number from one coach"`
	MessagesPerNumber          int           `env:"MESSAGES_PER_NUMBER" default:"20" development:"off" min:"0" max:"1000000000" zero:"off" help:"SMS segments of approval messages in 24 h to one number from all coaches"`
	MessagesPerCoach           int           `env:"MESSAGES_PER_COACH" default:"200" development:"off" min:"0" max:"1000000000" zero:"off" help:"SMS segments of approval messages in 24 h from one coach"`

	PrivacyProfile      string        `env:"PRIVACY_PROFILE" default:"none" oneof:"none,india,eu,us" help:"law whose defaults apply: the age below which a guardian must agree, how fresh an approval must be, how long data is kept; docs/privacy.md has the table"`
	Basis               string        `env:"BASIS" default:"family_asked" oneof:"family_asked,membership" help:"why the data of a player may be kept if the coach declares nothing: the family asked, or the student is a member"`
	ApprovalFreshness   time.Duration `env:"APPROVAL_FRESHNESS" default:"0s" shown:"15m if PRIVACY_PROFILE is india or eu, else 0s" min:"0s" max:"24h" zero:"off" help:"age of the OTP or passkey with which a session began, up to which the API takes an approval; it must name its request_id; pages always take 15 minutes"`
	RetainDeleted       time.Duration `env:"RETAIN_DELETED" default:"720h" shown:"720h; 8760h if PRIVACY_PROFILE is india" min:"0s" max:"87600h" zero:"kept" help:"time after which the personal data of a player whom the coach removed is erased; docs/privacy.md says what stays"`
	RetainUnanswered    time.Duration `env:"RETAIN_UNANSWERED" default:"4320h" min:"0s" max:"87600h" zero:"kept" help:"time without an answer of the family after which a player is removed and its personal data erased; the coach is warned 14 days before"`
	RetainMedical       time.Duration `env:"RETAIN_MEDICAL" default:"0s" min:"0s" max:"87600h" zero:"kept with the player" help:"time after which a medical text is erased that the coach has not entered again"`
	RetainNotifications time.Duration `env:"RETAIN_NOTIFICATIONS" default:"8760h" min:"0s" max:"87600h" zero:"kept" help:"time after which a notification is deleted"`
	RetainDeliveries    time.Duration `env:"RETAIN_DELIVERIES" default:"2160h" shown:"2160h; 8760h if PRIVACY_PROFILE is india" min:"0s" max:"87600h" zero:"kept" help:"time after which the record of a message that left is deleted; OTPs and copies of notifications are deleted after 7 days"`
	Notice              string        `env:"NOTICE" default:"built-in" help:"folder with the notice to families, a file for each language: en.md, hi.md; docs/privacy.md describes them"`
	Languages           []string      `env:"LANGUAGES" default:"all" help:"languages of pages and messages, separated by commas, such as en,hi,ta: English and others that have texts; all offers those that are complete and checked, docs/operating.md lists them"`
	Texts               string        `env:"TEXTS" default:"built-in" help:"folder with texts that replace built-in ones and with further languages: ta.json, texts.lock; docs/operating.md describes them"`

	ProfileRequired          []string `env:"PROFILE_REQUIRED" default:"name,bio,experience_years,sports" help:"fields of a complete coach profile, separated by commas: name, bio, experience_years, sports, email, certifications, profile_picture; none requires no field"`
	KYC                      bool     `env:"KYC" default:"off" help:"operators verify the identity of coaches; the tiers say what requires it"`
	Tiers                    string   `env:"TIERS" default:"built-in" help:"JSON file with the subscription tiers (docs/tiers.md)"`
	NamesRefused             string   `env:"NAMES_REFUSED" default:"built-in" help:"file with names that no coach, student, guardian or batch may have, one on each line, beside the built-in ones: this service, messengers, banks, offices"`
	RequireGuardianForMinors bool     `env:"REQUIRE_GUARDIAN_FOR_MINORS" default:"off" shown:"on if PRIVACY_PROFILE is india, else off" help:"a student under 18 gets app services only if the guardian has approved too"`
	GuardianProof            string   `env:"GUARDIAN_PROOF" default:"off" shown:"required if PRIVACY_PROFILE is india, else off" oneof:"off,offered,required" help:"a guardian of a minor proves to be an adult by a provider of IDENTITY_PROVIDERS, or an operator records papers: required before a yes, offered, or off"`
	IdentityProviders        string   `env:"IDENTITY_PROVIDERS" default:"none" help:"JSON file with the providers by which guardians prove to be adults (docs/operating.md); private addresses need WEBHOOK_NETWORKS"`
	AllowCoachAsContact      bool     `env:"ALLOW_COACH_AS_CONTACT" default:"off" help:"a guardian or student may have the coach's own number"`
	CopyGuardian             bool     `env:"COPY_GUARDIAN" default:"on" help:"what a coach writes to a student under 18 goes to the guardian too, on the same channel"`
	AppHistory               string   `env:"APP_HISTORY" default:"all" oneof:"all,since_approval" help:"what a party sees in the app after its approval: all that the coach added, or what was added since"`
	RequestsPerAddressMinute int      `env:"REQUESTS_PER_ADDRESS_MINUTE" default:"600" min:"0" max:"1000000000" zero:"off" help:"requests per minute from one network address (/64 for IPv6), counted by each process"`
	MaxConnections           int      `env:"MAX_CONNECTIONS" default:"6000" min:"1" max:"1000000" help:"open connections to ADDR, a quarter of them from one address unless it is in TRUSTED_PROXIES; at a limit the longest idle one is closed for a new one"`
	MaxInFlight              string   `env:"MAX_IN_FLIGHT" default:"adaptive" help:"reads, and as many writes, that are handled at the same time, without uploads, downloads, streams and health checks; more get 503; a number from 1 to 1000000, or adaptive, which follows the time that requests take"`
	Streams                  int      `env:"STREAMS" default:"4000" min:"1" max:"1000000" help:"open notification streams of one process; one more gets 503; keep it below MAX_CONNECTIONS"`

	Log           string            `env:"LOG" default:"operators" oneof:"off,operators,public" help:"who may read the log of consents at /log/: operators on ADMIN_ADDR with the scope audit, or everyone on ADDR, too; it names no person"`
	Erasures      string            `env:"ERASURES" shown:"erasures in DATA_DIR; none if DATABASE_URL is set" help:"file with the ids and times of all erasures, outside of the database and of its backups: what was erased is erased again when the service starts with an older database"`
	LogCheckpoint string            `env:"LOG_CHECKPOINT" default:"none" shown:"log-checkpoint in DATA_DIR; none if DATABASE_URL is set" help:"file with the newest checkpoint of the log of consents, outside of the database; the log stops if it contradicts the database, for example after a backup was restored"`
	LogWitnesses  []witness.Witness `env:"LOG_WITNESSES" default:"none" help:"witnesses that cosign checkpoints of the log of consents (C2SP tlog-witness), separated by commas, each as in a policy: witness <name> <vkey> <url>; docs/proof.md describes them"`

	ShutdownDrain time.Duration `env:"SHUTDOWN_DRAIN" default:"1s" min:"0s" max:"10m" zero:"none" help:"time between the first 503 of /readyz and closing the listeners, so that load balancers notice"`
	LogLevel      slog.Level    `env:"LOG_LEVEL" default:"info" oneof:"debug,info,warn,error" help:"lowest level that is logged"`
	LogFormat     string        `env:"LOG_FORMAT" default:"text" oneof:"text,json" help:"format of log lines"`
	AccessLog     bool          `env:"ACCESS_LOG" shown:"on if LOG_FORMAT is json" help:"log a line for each request at info: method, route pattern, status, milliseconds, trace id"`

	// Endpoints are constants, not settings: only tests replace them.
	Endpoints Endpoints

	// SMSCurrency is the ISO 4217 currency of SMS_PRICES and SMS_BUDGET, with which coaches see the
	// price of a message.
	SMSCurrency string

	// set holds the origin of each setting that is set, by key.
	set map[string]origin

	// erasuresByDefault is ERASURES unless it is set, for the default database.
	erasuresByDefault string
}

// Endpoints are the addresses of services of other companies.
type Endpoints struct {
	// ACME is the directory of the service for TLS_AUTOCERT_DOMAINS. ACMEAuthorities is a PEM file
	// with the authorities of its certificate; empty for the system's.
	ACME, ACMEAuthorities string
	// WhatsApp is the Graph API with its version, and FCM is FCM HTTP v1.
	WhatsApp, FCM string
	// PushNetworks are private networks in which push services may be.
	PushNetworks []netip.Prefix
}

var endpoints = Endpoints{
	ACME:     "https://acme-v02.api.letsencrypt.org/directory",
	WhatsApp: "https://graph.facebook.com/v23.0",
	FCM:      "https://fcm.googleapis.com",
}

// TestNumber is a number with a fixed OTP. It gets no SMS.
type TestNumber struct {
	Number phone.Number
	Code   Secret
	// Until is the time from which the number is an ordinary one again.
	Until time.Time
}
