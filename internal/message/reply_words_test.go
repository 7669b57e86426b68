package message_test

import (
	"testing"

	"github.com/touchline/touchline/internal/message"
)

// TestReplyWords: STOP, START and HELP as people write them, and texts to a coach that only look like them.
func TestReplyWords(t *testing.T) {
	for want, texts := range map[message.Keyword][]string{
		message.KeywordStop: {
			"STOP", " stop. ", "Stop!", "stop\nall", "Unsubscribe", "“बंद करें”", "रोकें।", "Opt out", "OPT-OUT", "optout", "revoke", "बन्द करो", "बन्द", "बन्द करें",
			"बन्\u200dद", "\ufeffSTOP\u200b", // characters that are not visible
			"STOP 🛑", "STOP ⛔️", "STOP\ufe0f", "❤️ STOP", "STOP 1️⃣", "STOP ℹ️", "🙏🏽STOP🙏🏽", "STOP 👨‍👩‍👧", "🇮🇳 stop", "\u0301STOP",
			"ＳＴＯＰ", "ｓｔｏｐ", "𝗦𝗧𝗢𝗣", "Ⓢⓣⓞⓟ", "S T O P", "S.T.O.P.",
			"STOP STOP", "stop stop stop", "Stop, stop!", "बंद करो बंद करो", "cancel cancel",
			"un-subscribe", "Un Subscribe", "unsub", "UNSUB!", "stop sms", "stop msg", "Stop messages", "stop whatsapp", "unsubscribe me", "stop sending messages",
			"please stop", "Pls stop", "stop please", "Stop now", "please unsubscribe", "stop sir",
			"स्टॉप", "स्टोप", "स्टाप", "बंद करे", "बंद कर दो", "बंद कर दें", "बंद कीजिए", "बंद कीजिये", "रोक दो", "रोक दीजिए", "रुको", "रुकिए", "कृपया बंद करें", "मैसेज बंद करो", "SMS बंद करो", "बंद करो जी", "स्टॉप मैसेज",
			"band karo", "Band kar do", "message band karo", "stop karo", "end", "quit", "CANCEL", "STOPALL",
			"stop sending", "Stop sending SMS", "stop it", "STOP THIS", "don't send", "Don’t send me messages", "do not send any more messages", "no more messages", "No more SMS please", "STOPSTOP", "stopstopstop", "🛑", "🛑🛑", "stop coach",
			"স্টপ", "বন্ধ", "বন্ধ করুন", "মেসেজ বন্ধ করুন", "বন্ধ কৰক", "ষ্টপ", "સ્ટોપ", "બંધ કરો", "ಸ್ಟಾಪ್", "ನಿಲ್ಲಿಸಿ", "സ്റ്റോപ്പ്", "നിർത്തുക", "നിര്\u200dത്തുക", "थांबवा", "बंद करा", "मेसेज बंद करा",
			"ଷ୍ଟପ୍", "ବନ୍ଦ କରନ୍ତୁ", "ਸਟਾਪ", "ਬੰਦ ਕਰੋ", "ஸ்டாப்", "நிறுத்து", "நிறுத்தவும்", "மெசேஜ் நிறுத்துங்கள்", "స్టాప్", "ఆపు", "SMS ఆపండి", "اسٹاپ", "بند کریں۔", "میسج بند کریں",
		},
		message.KeywordStart: {"START", "স্টার্ট", "ஸ்டார்ட்", "స్టార్ట్", "اسٹارٹ", "unstop", "शुरू", "शुरू करें", "शुरु", "स्टार्ट", "start start", "ＳＴＡＲＴ", "Start ✅", "please start"},
		message.KeywordHelp:  {"help", "உதவி", "সাহায্য", "مدد", "INFO", "मदद", "help!", "हेल्प", "please help"},
		"": {
			"", "Please do not stop", "STOP IT, WHO IS THIS", "yes", "STOPPED", "1", "⛔️", "the 🛑", "🛑?", "1️⃣",
			"please stop at the gate", "don't stop", "Don’t stop!", "do not stop", "full stop", "bus stop", "non-stop", "stop it, Asha is crying", "stop sending him so late", "don't send Asha today", "no more messages from me today", "STOPSTOPPED", "start it", "stop by at five", "The bus stops here", "we had to stop early",
			"please cancel", "cancel please", "cancel training", "can we cancel?", "end now", "end of term", "the end", "quit smoking", "is it the end?", "band", "band practice", "Stopwatch",
			"मैदान बंद है", "बंद है क्या", "गाड़ी गेट पर रोक दो", "रुको मत", "बारिश नहीं रुकी", "मत रुको", "खेल बंद मत करो", "शुरू हुआ क्या", "when does it start",
			"মাঠ কি বন্ধ", "আজ খেলা বন্ধ করুন", "आज खेळ बंद करा", "थांबा", "मैदान बंद आहे", "ਮੈਦਾਨ ਬੰਦ ਹੈ", "బస్ ఆపండి", "வண்டியை நிறுத்து", "ಬಸ್ ನಿಲ್ಲಿಸಿ", "گیٹ بند کریں", "হ্যাঁ", "help me carry the bags", "S", "STOP?NO",
		},
	} {
		for _, text := range texts {
			r := message.Reply{Text: text}
			if r.Stops() != (want == message.KeywordStop) || r.Starts() != (want == message.KeywordStart) || r.Helps() != (want == message.KeywordHelp) {
				t.Errorf("%q: stops = %t, starts = %t, helps = %t; want %q", text, r.Stops(), r.Starts(), r.Helps(), want)
			}
		}
	}
	for means, text := range map[message.Keyword]string{message.KeywordStop: "PARA", message.KeywordStart: "VAMOS", message.KeywordHelp: "STOP"} {
		r := message.Reply{Text: text, Means: means}
		if r.Stops() != (means == message.KeywordStop) || r.Starts() != (means == message.KeywordStart) || r.Helps() != (means == message.KeywordHelp) {
			t.Errorf("%q that means %s: stops = %t, starts = %t, helps = %t", text, means, r.Stops(), r.Starts(), r.Helps())
		}
	}
	if (message.Reply{Text: "OK", Means: "NEW"}).Stops() || !(message.Reply{Text: "STOP", Means: "NEW"}).Stops() {
		t.Error("an unknown keyword of the provider counts")
	}
	if (message.Reply{Text: "STOP", Kind: message.ReplyEdit}).Stops() != true || (message.Reply{Text: "STOP", Kind: message.ReplyReaction}).Stops() {
		t.Error("an edit is not read as a text, or a reaction is")
	}
}

// TestTypedAnswer: a yes or no that was typed in place of pressing a button.
func TestTypedAnswer(t *testing.T) {
	for text, want := range map[string]bool{
		"Yes": true, "YES!!": true, "yes please": true, "No.": true, "nahi": true, "हाँ": true, "जी हाँ": true, "नहीं": true, "👍": true, "👍🏽": true, "ok": true, "✅": true, "Not my child": true, "yes yes": true, "हां जी": true,
		"This isn't me": true, "this isn’t me": true, "not mine": true, "galat number": true, "yes i approve": true, "I approve": true, "गलत नंबर": true, "यह मैं नहीं हूँ": true,
		"হ্যাঁ": true, "হয়": true, "না।": true, "હા": true, "ಹೌದು": true, "അതെ": true, "होय": true, "हो": true, "ହଁ": true, "ਹਾਂ ਜੀ": true, "ஆம்": true, "இல்லை": true, "అవును": true, "ہاں": true, "جی نہیں": true,
		"இது நான் இல்லை": true, "নহয়": true, "ही व्यक्ती मी नाही": true, // buttons
		"ஆம், ஐந்து மணிக்கு": false, "আজ না": false, "یہ نہیں": false, "not mine, it is Ravi's bag": false,
		"": false, "Yes, at five": false, "No training today?": false, "🙂": false, "1": false,
	} {
		if got := (message.Reply{Text: text}).TypedAnswer(); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}
