package config

import "strings"

const (
	inKannel   = "SMS: kannel:http://user:password@127.0.0.1:13013/cgi-bin/sendsms?from=<sender>&reply_secret=<secret>"
	inTwilio   = "SMS: twilio:https://<account SID>:<auth token>@api.twilio.com?from=<sender>"
	inMail     = "MAIL: smtps://user:password@host:465?from=<address>&ca=<file>&bounce_secret=<secret>"
	inMSG91    = "SMS: msg91:https://<auth key>@control.msg91.com?header=<header>&entity_id=<digits>"
	inWhatsApp = "WHATSAPP_ACCOUNT: phone_id=<digits>,token=…,app_secret=…,verify_token=…"
)

// moved are the settings of earlier builds and the settings that they are a part of now.
var moved = map[string]string{
	"SMS_USER": inKannel, "SMS_PASSWORD": inKannel, "SMS_SENDER": inKannel, "SMS_REPLY_SECRET": inKannel,
	"SMS_RATES":          "SMS: the option rate of a provider, as in twilio:https://…&rate=10",
	"TWILIO_ACCOUNT_SID": inTwilio, "TWILIO_AUTH_TOKEN": inTwilio, "TWILIO_SENDER": inTwilio,
	"MAIL_PASSWORD": inMail, "MAIL_FROM": inMail, "MAIL_CA": inMail, "MAIL_BOUNCE_SECRET": inMail,
	"WHATSAPP_PHONE_ID": inWhatsApp, "WHATSAPP_TOKEN": inWhatsApp, "WHATSAPP_APP_SECRET": inWhatsApp, "WHATSAPP_VERIFY_TOKEN": inWhatsApp,
	"DATABASE_CONNECTIONS": "DATABASE_URL: postgres://…?pool_max_conns=16",
	"SMS_CURRENCY":         "SMS_PRICES: IN=0.0083USD,*=0.05USD",
	"MSG91_AUTH_KEY":       inMSG91, "MSG91_HEADER": inMSG91, "MSG91_ENTITY_ID": inMSG91,
}

// unknown returns the error of a variable or flag that is not a setting. key is its name as that
// of a setting, known are the names to suggest.
func unknown(kind, name, key string, known []string) string {
	if into := moved[strings.TrimSuffix(key, "_FILE")]; into != "" {
		return "is now a part of " + into
	}
	return "there is no such " + kind + suggest(name, known)
}
