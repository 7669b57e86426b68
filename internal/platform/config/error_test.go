package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
)

// twilioSID has the form of an account SID.
const twilioSID = "AC0123456789abcdef0123456789ABCDEF"

const whatsApp = "phone_id=1,token=t,app_secret=s,verify_token=v"

const msg91 = "msg91:https://k@control.msg91.com?header=TLINES&entity_id=12"

func TestErrors(t *testing.T) {
	noKey := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(noKey, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args    []string
		environ []string
		want    string // part of the only error
	}{
		{nil, env("ADDR=8080"), "TOUCHLINE_ADDR=8080: must be host:port"},
		{nil, env("ADDR=127.0.0.1:http"), "the port from 0 to 65535"},
		{nil, env("ADDR=127.0.0.1:70000"), "TOUCHLINE_ADDR"},
		{[]string{"--addr=http://x:80"}, nil, "TOUCHLINE_ADDR=http://x:80"},
		{nil, env("PUBLIC_URL=t.example"), "must be an http or https URL"},
		{nil, env("PUBLIC_URL=https://t.example/app"), "without path or query"},
		{nil, env("PUBLIC_URL=https://t.example?x=1"), "TOUCHLINE_PUBLIC_URL"},
		{nil, env("PUBLIC_URL=https://"), "TOUCHLINE_PUBLIC_URL"},
		{nil, env("PUBLIC_URL=ftp://t.example"), "TOUCHLINE_PUBLIC_URL"},
		{nil, env("PUBLIC_URL=http://t.example"), "must be the https URL at which clients reach the service: others can read tokens and OTPs that are sent over http to t.example; for a test set TOUCHLINE_INSECURE_HTTP=on"},
		{nil, env("PUBLIC_URL=HTTP://192.0.2.1:8080", "INSECURE_HTTP=off"), "must be the https URL"},
		{nil, env("PUBLIC_URL=http://127.0.0.1.example"), "must be the https URL"},
		{nil, env("ADDR=192.0.2.1:80"), "TOUCHLINE_PUBLIC_URL=http://192.0.2.1:80: must be the https URL"},
		{nil, env("TRUSTED_PROXIES=10.0.0.0/33"), `"10.0.0.0/33" is neither an address nor a range`},
		{nil, env("TRUSTED_PROXIES=*"), `"*" is neither`},
		{nil, env("CORS_ORIGINS=*"), `"*" would let sites that you do not know call the API; name each origin`},
		{nil, env("CORS_ORIGINS=https://a.example,https://*.a.example"), `"https://*.a.example" would let sites`},
		{nil, env("CORS_ORIGINS=app.example"), `"app.example" is not an origin; write it as https://app.example`},
		{nil, env("CORS_ORIGINS=null"), `"null" is not an origin`},
		{nil, env("CORS_ORIGINS=file:///app"), "is not an origin; write it as"},
		{nil, env("CORS_ORIGINS=https://App.example/"), `is not an origin as browsers send it; write https://app.example`},
		{nil, env("CORS_ORIGINS=https://app.example:443"), "write https://app.example"},
		{nil, env("CORS_ORIGINS=https://me:pw@app.example"), "write https://app.example"},
		{nil, env("CORS_ORIGINS=https://app.example?x"), "write https://app.example"},
		{nil, env("CORS_ORIGINS=https://bücher.example"), "write the host in Punycode"},
		{nil, env("MASTER_KEY=short"), "TOUCHLINE_MASTER_KEY=••••••: must be 32 bytes in base64"},
		{nil, env("DATABASE_URL=mysql://u:pw@h/d"), "TOUCHLINE_DATABASE_URL=••••••: must be sqlite:<path> or postgres://"},
		{nil, env("DATABASE_URL=postgres://"), "must be sqlite:<path>"},
		{nil, env("DATABASE_URL=postgres://u:pw@a:5432,b:x/d"), "must be sqlite:<path>"},
		{nil, env("DATABASE_URL=sqlite:"), "must be sqlite:<path>"},
		{nil, env("DATABASE_URL=sqlite::memory:"), "must be a file"},
		{nil, env("DATABASE_URL=sqlite:x.db?_txlock=none"), "has no ?"},
		{nil, env("DATABASE_URL_FILE=/no/such/file"), "TOUCHLINE_DATABASE_URL_FILE=/no/such/file: cannot be read: no such file"},
		{nil, env("DATABASE_URL_FILE=/dev/null"), "the file is empty"},
		{nil, env("SMS=log", "SMS_FILE=/dev/null"), "set one of them"},
		{nil, env("SMS=log,https://gw.example"), "provider 1: log must be alone"},
		{nil, env("SMS=http:https://gw.example/send,ftp:x"), "provider 2: there is no provider ftp"},
		{nil, env("SMS=http:https://gw.example/send,"), "provider 2: there is no such provider"},
		{nil, env("SMS=twilio"), "TOUCHLINE_SMS=twilio: must be written as twilio:https://<account SID>:<auth token>@api.twilio.com?from=<sender>"},
		{nil, env("SMS=twilio:x:y"), "must be written as twilio:https://"},
		{nil, env("SMS=twilio:https://" + twilioSID + ":t@api.twilio.com"), "the option from must be a number of 3 to 15 digits"},
		{nil, env("SMS=twilio:https://" + twilioSID + ":t@api.twilio.com?from=A%20long%20name"), "or the SID of a messaging service"},
		{nil, env("SMS=twilio:https://" + twilioSID + "@api.twilio.com?from=ACADEMY"), "twilio needs the account SID (AC and 32 hexadecimal digits) and the auth token"},
		{nil, env("SMS=twilio:https://SK" + twilioSID[2:] + ":t@api.twilio.com?from=ACADEMY"), "twilio needs the account SID"},
		{nil, env("SMS=twilio:https://" + twilioSID + "0:t@api.twilio.com?from=ACADEMY"), "twilio needs the account SID"},
		{nil, env("SMS=twilio:https://" + twilioSID + ":t@api.twilio.com?from=ACADEMY&header=A"), "twilio accepts the options from, rate"},
		{nil, env("SMS=msg91:https://control.msg91.com?header=TLINES&entity_id=12", "MSG91_TEMPLATES=otp_coach.en=a/1"), "msg91 needs the auth key and the header"},
		{nil, env("SMS=msg91:https://k@control.msg91.com?entity_id=12", "MSG91_TEMPLATES=otp_coach.en=a/1"), "msg91 needs the auth key and the header"},
		{nil, env("SMS=msg91:https://k@control.msg91.com?header=TLINES", "MSG91_TEMPLATES=otp_coach.en=a/1"), "the option entity_id must be the digits"},
		{nil, env("SMS=msg91:https://k@control.msg91.com?header=TLINES&entity_id=x", "MSG91_TEMPLATES=otp_coach.en=a/1"), "the option entity_id must be the digits"},
		{nil, env("SMS=" + msg91), "TOUCHLINE_MSG91_TEMPLATES=none: must be set, because SMS has msg91"},
		{nil, env("SMS="+msg91, "MSG91_TEMPLATES=otp_coach.en=a"), `"otp_coach.en=a" must be written as`},
		{nil, env("SMS="+msg91, "MSG91_TEMPLATES=otp_coach.en=a/1,otp_coach.en=b/2"), "otp_coach.en has two ids"},
		{nil, env("VOICE=log", "PUBLIC_URL=http://127.0.0.1:8080"), "log is for development: it needs an ADDR on loopback and no PUBLIC_URL"},
		{nil, env("VOICE=log", "ADDR=192.0.2.1:8080", "INSECURE_HTTP=on"), "log is for development: it needs an ADDR on loopback and no PUBLIC_URL"},
		{nil, env("VOICE=on"), "must be off, log, twilio or http:https://touchline:<password>@gateway.example/call"},
		{nil, env("VOICE=kannel:http://a:b@g.example"), "must be off, log, twilio or http:"},
		{nil, env("VOICE=http:gateway.example"), "must be written as http:https://gateway.example/send"},
		{nil, env("VOICE=http:https://gateway.example/call"), "needs a password, with which the gateway signs its calls"},
		{nil, env("VOICE=twilio", "PUBLIC_URL=https://t.example"), "twilio needs the account of Twilio: have it in SMS too, or write twilio:https://"},
		{nil, env("VOICE=twilio", "PUBLIC_URL=https://t.example", "SMS=twilio:https://AC0123456789abcdef0123456789abcdef:S3NT1NEL@api.twilio.com?from=ACADEMY"), "twilio calls from a number"},
		{nil, env("VOICE=twilio:https://AC0123456789abcdef0123456789abcdef@api.twilio.com?from=+15005550006", "PUBLIC_URL=https://t.example"), "twilio needs the account SID"},
		{nil, env("VOICE=twilio:https://AC0123456789abcdef0123456789abcdef:S3NT1NEL@api.twilio.com?from=+15005550006"), "twilio needs PUBLIC_URL, at which Twilio asks what to say"},
		{nil, env("WHATSAPP=otp,news", "WHATSAPP_ACCOUNT="+whatsApp), `"news" must be otp, request, chat or log`},
		{nil, env("WHATSAPP=log", "PUBLIC_URL=http://127.0.0.1:8080"), "log is for development: it needs an ADDR on loopback and no PUBLIC_URL"},
		{nil, env("WHATSAPP=log", "ADDR=192.0.2.1:8080", "INSECURE_HTTP=on"), "log is for development: it needs an ADDR on loopback and no PUBLIC_URL"},
		{nil, env("WHATSAPP=log,otp"), "log shows all messages and sends none, so nothing else can be set with it"},
		{nil, env("WHATSAPP=otp"), "TOUCHLINE_WHATSAPP_ACCOUNT: must be set, because WHATSAPP is"},
		{nil, env("WHATSAPP=otp", "WHATSAPP_ACCOUNT=phone_id=+9198,token=t,app_secret=s,verify_token=v"), "must be the digits of the phone number id"},
		{nil, env("WHATSAPP=otp", "WHATSAPP_ACCOUNT=phone_id=1,token=t,verify_token=v"), "must be written as phone_id=<digits>,token=…,app_secret=…,verify_token=…"},
		{nil, env("WHATSAPP_ACCOUNT=" + whatsApp + ",sender=x"), "must be written as phone_id="},
		{nil, env("WHATSAPP_ACCOUNT=" + whatsApp + ",token=x"), "must be written as phone_id="},
		{nil, env("FCM_SERVICE_ACCOUNT=/etc/firebase.json"), "TOUCHLINE_FCM_SERVICE_ACCOUNT=••••••: must be the JSON of a service account"},
		{nil, env(`FCM_SERVICE_ACCOUNT={"type":"authorized_user"}`), "with type \"service_account\", project_id"},
		{nil, env(`FCM_SERVICE_ACCOUNT={"type":"service_account","project_id":"p","client_email":"e","private_key":"k"}`), "has no token_uri"},
		{nil, env(`FCM_SERVICE_ACCOUNT={"type":"service_account","project_id":"p","client_email":"e","private_key":"k","token_uri":"https://x.example"}`), "is not PEM"},
		{nil, env(`FCM_SERVICE_ACCOUNT={"type":"service_account","project_id":"p","client_email":"e","private_key":"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----","token_uri":"https://x.example"}`), "is no RSA key"},
		{nil, env("SMS=https://gw.example#rate=fast"), "the rate must be messages a second, at most 10000"},
		{nil, env("SMS=https://gw.example#rate=0"), "the rate must be"},
		{nil, env("SMS=https://gw.example#rate=1&rate=2"), "http accepts the options rate"},
		{nil, env("PASSKEY_APPS=com.example.app=14:6D"), `"com.example.app=14:6D" must be written as com.example.app=`},
		{nil, env("MOBILE_RANGES=9155"), `"9155" must be written with its country code`},
		{nil, env("PASSKEY_APPS=com.example.app"), `"com.example.app" must be written as`},
		{nil, env("ANDROID_APP_HASH=abc"), "must be none, or 11 characters"},
		{nil, env("SMS=ftp:x"), "this release supports log, http:<url>, kannel:<url>, twilio:<url> and msg91:<url>"},
		{nil, env("SMS=http:"), "must be written as http:https://gateway.example/send"},
		{nil, env("SMS=kannel:"), "must be written as kannel:http://user:password@"},
		{nil, env("SMS=kannel:http://k.example/cgi-bin/sendsms"), "kannel needs the user and the password of a sendsms-user"},
		{nil, env("SMS=kannel:http://u@k.example/cgi-bin/sendsms"), "kannel needs the user and the password"},
		{nil, env("SMS=kannel:http://u:p@k.example/cgi-bin/sendsms?reply_secret=short"), "the option reply_secret must be at least 16 letters and digits"},
		{nil, env("SMS=kannel:http://u:p@k.example/cgi-bin/sendsms?from=A%20NAME"), "must be a number of 3 to 15 digits, or up to 11 letters and digits"},
		{nil, env("MAIL=mail.example"), "must be off, smtp://user:password@host:587?from=<address>"},
		{nil, env("MAIL=smtp://user@mail.example?from=a@b.example"), "must contain the password of the user"},
		{nil, env("MAIL=smtps://mail.example:99999?from=a@b.example"), "must have a port from 1 to 65535"},
		{nil, env("MAIL=smtps://mail.example"), "the option from must be an address, or a name and an address"},
		{nil, env("MAIL=smtps://mail.example?from=Touchline"), "the option from must be an address"},
		{nil, env("MAIL=smtps://mail.example?from=a@b.example&ca=/nowhere.pem"), "the file of the option ca cannot be read"},
		{nil, env("MAIL=smtps://mail.example?from=a@b.example&bounce_secret=short"), "must have 16 to 128 letters, digits, - and _"},
		{nil, env("MAIL=smtps://mail.example?from=a@b.example&sender=x"), "accepts the options from, ca, bounce_secret"},
		{nil, env("DEFAULT_REGION=XX"), "TOUCHLINE_DEFAULT_REGION=XX: must be an ISO 3166 country"},
		{nil, env("COUNTRIES=IN,XX"), `TOUCHLINE_COUNTRIES=IN,XX: "XX" is not an ISO 3166 country`},
		{nil, env("COUNTRIES=*,IN"), "must be * alone"},
		{nil, env("COUNTRIES=none"), "must name a country"},
		{nil, env("OTP_LENGTH=3"), "TOUCHLINE_OTP_LENGTH=3: must be 4 to 10"},
		{nil, env("OTP_LENGTH=six"), "TOUCHLINE_OTP_LENGTH=six: must be a whole number, 4 to 10"},
		{nil, env("OTP_LENGTH=0"), "must be 4 to 10"},
		{nil, env("OTP_VALIDITY=0"), "TOUCHLINE_OTP_VALIDITY=0s: must be 1s to 24h"},
		{nil, env("OTP_VALIDITY=5"), "must be a duration such as"},
		{nil, env("OTP_TRIES=0"), "TOUCHLINE_OTP_TRIES=0"},
		{nil, env("OTP_WRONG_PER_DAY=0"), "TOUCHLINE_OTP_WRONG_PER_DAY=0"},
		{nil, env("OTP_SENDS_PER_HOUR=-1"), "0 is off"},
		{nil, env("OTP_RESEND_AFTER=-1s"), "0s to 24h; 0 is off"},
		{nil, env("OTP_SENDS_PER_DAY=99999999999999999999"), "must be a whole number"},
		{nil, env("SMS_BUDGET=500"), "TOUCHLINE_SMS_BUDGET=500: needs SMS_PRICES"},
		{nil, env("SMS_BUDGET=5e2"), "must be an amount such as 500 or 0.12"},
		{nil, env("SMS_BUDGET=-1"), "must be an amount"},
		{nil, env("SMS_BUDGET=0.00001"), "at most 4 decimals"},
		{nil, env("SMS_BUDGET=10000001"), "up to 10000000"},
		{nil, env("SMS_BUDGET=500,100"), "must be an amount, and the one for calls after it: 500,calls=100"},
		{nil, env("SMS_BUDGET=500,calls=none"), "must be an amount, and the one for calls after it: 500,calls=100"},
		{nil, env("SMS_BUDGET=500,calls=0"), "must be an amount, and the one for calls after it: 500,calls=100"},
		{nil, env("SMS_BUDGET=500", "SMS_PRICES=*=1", "VOICE=http:https://me:S3NT1NEL@g.example"), "needs a budget for calls too, because VOICE makes calls: 500,calls=100"},
		{nil, env("SMS_PRICES=IN/call=1,in/CALL=2"), "IN/call has two prices"},
		{nil, env("SMS_PRICES=IN/call=1", "COUNTRIES=IN"), "must have a price for IN, which COUNTRIES allows"},
		{nil, env("SMS_PRICES=IN"), "the price of IN must be an amount"},
		{nil, env("SMS_PRICES=XX=1"), `"XX=1" must be written as IN=0.12 or *=4.00`},
		{nil, env("SMS_PRICES=IN=1,in=2"), "IN has two prices"},
		{nil, env("SMS_PRICES=IN=1rupees"), "the price of IN must be an amount"},
		{nil, env("SMS_PRICES=IN=1,*=2USD"), "the prices must have one currency"},
		{nil, env("SMS_PRICES=IN=1XXY"), "the price of IN must end with an ISO 4217 currency"},
		{nil, env("SMS_PRICES=IN=1", "COUNTRIES=IN,GB"), "must have a price for GB, which COUNTRIES allows"},
		{nil, env("SMS_PRICES=IN=1", "COUNTRIES=*"), "must have a price for *"},
		{nil, env("TEST_NUMBERS=+919900000001"), "entry 1 must be written as"},
		{nil, env("TEST_NUMBERS=+912222123456=123456@2027-01-31"), "entry 1: the number is not a mobile number"},
		{nil, env("TEST_NUMBERS=+919900000001=12345@2027-01-31"), "entry 1: the code must have 6 digits"},
		{nil, env("TEST_NUMBERS=+919900000001=12345x@2027-01-31"), "entry 1: the code must have 6 digits"},
		{nil, env("TEST_NUMBERS=+919900000001=123456@2027-02-31"), "entry 1: the last day must be a date"},
		{nil, env("TEST_NUMBERS=+919900000001=123456@2027-01-31,+91 99000 00001=123456@2027-01-31"), "entry 2 repeats a number"},
		{nil, env("REFRESH_TOKEN_IDLE=2h", "REFRESH_TOKEN_LIFETIME=1h"), "must not be longer than REFRESH_TOKEN_LIFETIME, 1h"},
		{nil, env("REFRESH_TOKEN_LIFETIME=never"), "TOUCHLINE_REFRESH_TOKEN_LIFETIME=never"},
		{nil, env("REMINDERS_PER_WINDOW=0"), "must be 1 to 1000"},
		{nil, env("PROFILE_REQUIRED=name,age"), `"age" is not one of name, bio`},
		{nil, env("REQUIRE_GUARDIAN_FOR_MINORS=true"), "TOUCHLINE_REQUIRE_GUARDIAN_FOR_MINORS=true: must be on or off"},
		{nil, env("LOG_LEVEL=loud"), "must be debug, info, warn or error"},
		{nil, env("LOG_FORMAT=xml"), "must be one of text, json"},
		{nil, env("ADMIN_ADDR=9090"), "TOUCHLINE_ADMIN_ADDR=9090: must be host:port"},
		{nil, env("ADMIN_ADDR=127.0.0.1:8080"), "must not be ADDR"},
		{nil, env("FILES=/srv/files"), "must be file:<path> or s3://…"},
		{nil, env("FILES=s3://127.0.0.1:9000/bucket"), "after s3:// comes the bucket"},
		{nil, env("FILES=s3://bucket?zone=x"), "accepts endpoint and region"},
		{nil, env("FILES=s3://bucket?endpoint=minio"), "endpoint must be an http or https URL"},
		{nil, env("FILES=s3://bucket?endpoint=https://minio/s3"), "endpoint must be an http or https URL without a path"},
		{nil, env("BRAND=Club\nYes"), "must be a name of 1 to 30 characters"},
		{nil, env("BRAND=A club with a name of 31 letters"), "must be a name of 1 to 30 characters"},
		{nil, env("BRAND=--"), "must be a name of 1 to 30 characters"},
		{nil, env("APP_URL=javascript:alert(1)"), "must be none, or an http or https URL"},
		{nil, env("CLAMAV=on"), "must be off, unix:<path> or tcp:<host>:<port>"},
		{nil, env("TLS_CERT=error_test.go"), "TOUCHLINE_TLS_KEY=off: must name the key of TLS_CERT"},
		{nil, env("TLS_KEY=" + noKey), "TOUCHLINE_TLS_CERT=off: must name the certificate of TLS_KEY"},
		{nil, env("TLS_CERT=x.pem", "TLS_KEY="+noKey), "TOUCHLINE_TLS_CERT=x.pem: cannot be read: no such file or directory"},
		{nil, env("TLS_CERT=error_test.go", "TLS_KEY=x.pem"), "TOUCHLINE_TLS_KEY=x.pem: cannot be read: no such file or directory"},
		{nil, env("TLS_CERT=error_test.go", "TLS_KEY="+noKey), "TOUCHLINE_TLS_CERT=error_test.go: cannot be used with TLS_KEY: "},
		{nil, env("TLS_AUTOCERT_DOMAINS=a.example,*.t.example"), `TOUCHLINE_TLS_AUTOCERT_DOMAINS=a.example,*.t.example: "*.t.example" is a wildcard`},
		{nil, env("TLS_AUTOCERT_DOMAINS=192.0.2.1"), "is not a domain name"},
		{nil, env("TLS_AUTOCERT_DOMAINS=,"), "names no domain"},
		{nil, env("PUBLIC_URL=https://t.example:65536"), "must be an http or https URL"},
		{nil, env("TLS_AUTOCERT_DOMAINS=https://t.example"), "is not a domain name"},
		{nil, env("WHATSAPP_API=https://graph.example"), "TOUCHLINE_WHATSAPP_API: there is no such setting"},
		{nil, env("KYC=yes"), "must be on or off"},
		{nil, env("TLS_AUTOCERT_DOMAINS=on"), `TOUCHLINE_TLS_AUTOCERT_DOMAINS=on: "on" is not a domain name`},
		{nil, env("PRICES=IN:0.12"), "TOUCHLINE_PRICES: there is no such setting (did you mean TOUCHLINE_SMS_PRICES?)"},
		{nil, env("OTP_LENGHT=6"), "TOUCHLINE_OTP_LENGHT: there is no such setting (did you mean TOUCHLINE_OTP_LENGTH?)"},
		{nil, env("ADDR_FILE=x"), "TOUCHLINE_ADDR_FILE: there is no such setting"},
		{nil, env("COMPLETELY_ELSE=1"), "TOUCHLINE_COMPLETELY_ELSE: there is no such setting"},
		{[]string{"--otp-lenght=6"}, nil, "--otp-lenght: there is no such flag (did you mean --otp-length?)"},
		{[]string{"--OTP-LENGTH=6"}, nil, "there is no such flag"},
		{[]string{"--addr-file=x"}, nil, "--addr-file: there is no such flag"},
		{[]string{"--addr"}, nil, "--addr: needs a value"},
		{[]string{"--addr", "--sms=log"}, nil, "--addr: needs a value"},
		{[]string{"--master-key=abc"}, nil, "--master-key: is a secret"},
		{[]string{"--master-key", "abc"}, nil, "set TOUCHLINE_MASTER_KEY or TOUCHLINE_MASTER_KEY_FILE"},
		{[]string{"serve"}, nil, "argument 1: is not a flag"},
		{[]string{"--"}, nil, "argument 1: is not a flag"},
		{nil, env("DATA_DIR=a?b"), "TOUCHLINE_DATA_DIR=a?b: a folder with the SQLite file has no ? and no # in its path"},
		{nil, env("DATA_DIR=a\x00b"), `TOUCHLINE_DATA_DIR="a\x00b": must be a path`},
	}
	for _, tt := range tests {
		t.Run(strings.Join(append(tt.args, tt.environ...), " "), func(t *testing.T) {
			_, err := config.Load(tt.args, tt.environ)
			errs, ok := errors.AsType[config.Errors](err)
			if !ok || len(errs) != 1 {
				t.Fatalf("err = %v, want one error", err)
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("err = %v, want one line with %s", err, tt.want)
			}
		})
	}
}

// TestAllErrorsAreReported: Load reports all errors, in the order of the table.
func TestAllErrorsAreReported(t *testing.T) {
	_, err := config.Load(
		[]string{"--otp-tries=0", "--nonsense"},
		env("OTP_LENGTH=3", "TLS_AUTOCERT_DOMAINS=on", "TRUSTED_PROXIES=a,b", "COUNTRIES=XX,YY", "OTHER=1", "LOG_FORMAT=xml"))
	want := []string{"OTHER", "--nonsense", `"a"`, `"b"`, "TLS_AUTOCERT_DOMAINS", `"XX"`, `"YY"`, "OTP_LENGTH", "OTP_TRIES", "LOG_FORMAT"}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("got %d errors, want %d:\n%v", len(lines), len(want), err)
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("line %d = %s, want one about %s", i+1, line, want[i])
		}
	}
}

// TestLoadAddsCheckErrors: Load adds the errors of a check, except for a setting that
// has an error already.
func TestLoadAddsCheckErrors(t *testing.T) {
	tiers := config.Error{Name: "TOUCHLINE_TIERS", Message: "is not JSON"}
	check := func(c *config.Config) config.Errors {
		return config.Errors{tiers, tiers, {Name: "TOUCHLINE_OTP_TRIES", Message: "is odd"}}
	}
	_, err := config.Load(nil, env("OTP_TRIES=0"), check)
	errs, _ := errors.AsType[config.Errors](err)
	if len(errs) != 3 || errs[0].Name != "TOUCHLINE_OTP_TRIES" || errs[1] != tiers || errs[2] != tiers {
		t.Errorf("errors = %v, want OTP_TRIES and twice TIERS", errs)
	}
	if _, err := config.Load(nil, nil, check); err == nil {
		t.Error("err = nil, want the error of the check")
	}
}

func TestLoadIgnoresTestVariables(t *testing.T) {
	c, err := config.Load(nil, env("TEST_DATABASE_URL=postgres://x", "TEST_NUMBERS=+919900000001=123456@2027-01-31"))
	if err != nil || len(c.TestNumbers) != 1 {
		t.Errorf("err = %v", err)
	}
}

func TestValidateAfterChange(t *testing.T) {
	c := config.Defaults()
	c.OTPLength, c.DataDir = 2, ""
	if errs, ok := errors.AsType[config.Errors](c.Validate()); !ok || len(errs) != 2 {
		t.Errorf("Validate = %v, want two errors", c.Validate())
	}
}

// FuzzLoad: Load does not panic, and Validate accepts what Load accepts.
func FuzzLoad(f *testing.F) {
	f.Add("--addr=:1", "TOUCHLINE_SMS=log")
	f.Add("-x", "TOUCHLINE_TEST_NUMBERS=+919900000001=123456@2027-01-31,=@")
	f.Add("--", "TOUCHLINE_DATABASE_URL=postgres://u:p@h:x/d")
	f.Add("--sms=http:http://%zz", "TOUCHLINE_TRUSTED_PROXIES=::ffff:1.2.3.4/96,fe80::1%x")
	f.Fuzz(func(t *testing.T, arg, variable string) {
		c, err := config.Load([]string{arg}, []string{variable})
		if err != nil {
			if errors.Is(err, config.ErrHelp) {
				return
			}
			if errs, ok := errors.AsType[config.Errors](err); !ok || len(errs) == 0 || err.Error() == "" {
				t.Fatalf("err = %v, want config.Errors", err)
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("Validate after Load: %v", err)
		}
	})
}

// TestErrorsHidePasswords: the error of a setting that is given a URL with a password does not
// show it: errors end up in logs.
func TestErrorsHidePasswords(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, s := range config.Settings() {
		for _, value := range []string{"https://user:hunter2@t.example", "https://hunter2@t.example/x, z", "postgres://user:hunter2@t.example:x/db"} {
			_, err := config.Load(nil, []string{s.Name + "=" + value})
			if err == nil {
				continue
			}
			shown++
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s=%s: %v", s.Name, value, err)
			}
		}
	}
	if shown < 100 {
		t.Errorf("got %d errors, want at least 100", shown)
	}
}
