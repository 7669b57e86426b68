package message

import (
	"slices"

	"github.com/touchline/touchline/internal/language"
)

// languageWords are the words of a reply in one language. The first words of stop, start and help are the English
// ones as its keyboards write them.
type languageWords struct {
	objects, stop, start, help, answers []string
}

// wordsOfLanguages has each offered language but English and Hindi, whose words have more forms.
var wordsOfLanguages = map[string]languageWords{
	"as": {
		[]string{"মেছেজ", "এছ এম এছ"},
		[]string{"ষ্টপ", "বন্ধ", "বন্ধ কৰক", "বন্ধ কৰা"},
		[]string{"ষ্টাৰ্ট", "আৰম্ভ কৰক"},
		[]string{"হেল্প", "সহায়"},
		[]string{"হয়", "হ'ব", "নহয়", "নালাগে"},
	},
	"bn": {
		[]string{"মেসেজ", "এসএমএস"},
		[]string{"স্টপ", "বন্ধ", "বন্ধ করুন", "বন্ধ করো", "বন্ধ কর", "বন্ধ করে দিন"},
		[]string{"স্টার্ট", "শুরু করুন"},
		[]string{"হেল্প", "সাহায্য"},
		[]string{"হ্যাঁ", "হ্যা", "হাঁ", "জি", "ঠিক আছে", "না"},
	},
	"gu": {
		[]string{"મેસેજ", "એસએમએસ"},
		[]string{"સ્ટોપ", "સ્ટૉપ", "બંધ", "બંધ કરો", "બંધ કરી દો"},
		[]string{"સ્ટાર્ટ", "શરૂ કરો"},
		[]string{"હેલ્પ", "મદદ"},
		[]string{"હા", "હા જી", "ઠીક છે", "ના"},
	},
	"kn": {
		[]string{"ಮೆಸೇಜ್", "ಎಸ್ಎಮ್ಎಸ್"},
		[]string{"ಸ್ಟಾಪ್", "ನಿಲ್ಲಿಸಿ", "ನಿಲ್ಲಿಸು", "ಬಂದ್ ಮಾಡಿ"},
		[]string{"ಸ್ಟಾರ್ಟ್", "ಪ್ರಾರಂಭಿಸಿ"},
		[]string{"ಹೆಲ್ಪ್", "ಸಹಾಯ"},
		[]string{"ಹೌದು", "ಸರಿ", "ಇಲ್ಲ", "ಬೇಡ"},
	},
	"ml": { // also with the letters before Unicode 5.1, without their joiner
		[]string{"മെസേജ്", "എസ്എംഎസ്"},
		[]string{"സ്റ്റോപ്പ്", "സ്റ്റോപ്", "നിർത്തുക", "നിർത്തൂ", "നിർത്തു", "നിര്ത്തുക", "നിര്ത്തൂ"},
		[]string{"സ്റ്റാർട്ട്", "തുടങ്ങുക"},
		[]string{"ഹെൽപ്പ്", "സഹായം"},
		[]string{"അതെ", "അതേ", "സമ്മതം", "ശരി", "അല്ല", "ഇല്ല", "വേണ്ട"},
	},
	"mr": {
		[]string{"मेसेज", "मॅसेज", "एसएमएस"},
		[]string{"स्टॉप", "थांबवा", "बंद करा", "बंद करून टाका"},
		[]string{"स्टार्ट", "सुरू करा", "सुरु करा"},
		[]string{"हेल्प", "मदत"},
		[]string{"हो", "होय", "हो जी", "ठीक आहे", "नाही", "नको"},
	},
	"or": {
		[]string{"ମେସେଜ", "ମେସେଜ୍", "ଏସଏମଏସ"},
		[]string{"ଷ୍ଟପ୍", "ଷ୍ଟପ", "ବନ୍ଦ", "ବନ୍ଦ କରନ୍ତୁ", "ବନ୍ଦ କର"},
		[]string{"ଷ୍ଟାର୍ଟ", "ଆରମ୍ଭ କରନ୍ତୁ"},
		[]string{"ହେଲ୍ପ", "ସାହାଯ୍ୟ"},
		[]string{"ହଁ", "ଠିକ ଅଛି", "ନା", "ନାହିଁ"},
	},
	"pa": {
		[]string{"ਮੈਸੇਜ", "ਐਸਐਮਐਸ"},
		[]string{"ਸਟਾਪ", "ਸਟੌਪ", "ਬੰਦ", "ਬੰਦ ਕਰੋ", "ਬੰਦ ਕਰ ਦਿਓ", "ਰੋਕੋ"},
		[]string{"ਸਟਾਰਟ", "ਸ਼ੁਰੂ ਕਰੋ"},
		[]string{"ਹੈਲਪ", "ਮਦਦ"},
		[]string{"ਹਾਂ", "ਹਾਂ ਜੀ", "ਹਾਂਜੀ", "ਜੀ", "ਠੀਕ ਹੈ", "ਨਹੀਂ", "ਨਾ", "ਨਾਂਹ"},
	},
	"ta": {
		[]string{"மெசேஜ்", "எஸ்எம்எஸ்"},
		[]string{"ஸ்டாப்", "நிறுத்து", "நிறுத்தவும்", "நிறுத்துங்கள்", "நிறுத்துங்க"},
		[]string{"ஸ்டார்ட்", "தொடங்கு", "தொடங்கவும்"},
		[]string{"ஹெல்ப்", "உதவி"},
		[]string{"ஆம்", "ஆமாம்", "ஆமா", "சரி", "இல்லை", "வேண்டாம்"},
	},
	"te": {
		[]string{"మెసేజ్", "మెసేజ్లు", "ఎస్ఎంఎస్"},
		[]string{"స్టాప్", "ఆపు", "ఆపండి", "ఆపేయండి", "నిలిపివేయండి"},
		[]string{"స్టార్ట్", "ప్రారంభించండి"},
		[]string{"హెల్ప్", "సహాయం"},
		[]string{"అవును", "సరే", "కాదు", "వద్దు", "లేదు"},
	},
	"ur": {
		[]string{"میسج", "پیغام", "ایس ایم ایس"},
		[]string{"اسٹاپ", "سٹاپ", "بند", "بند کرو", "بند کریں", "بند کر دیں", "بند کر دو", "روکو", "روکیں"},
		[]string{"اسٹارٹ", "شروع کریں"},
		[]string{"ہیلپ", "مدد"},
		[]string{"ہاں", "جی", "جی ہاں", "ہاں جی", "ٹھیک ہے", "نہیں", "جی نہیں", "نا"},
	},
}

// addLanguages adds the words of all languages that choose returns, alone and after a word for messages.
func addLanguages(all map[string]bool, choose func(languageWords) []string) map[string]bool {
	for _, l := range wordsOfLanguages {
		for _, w := range choose(l) {
			all[foldWords(w)] = true
			for _, o := range slices.Concat(l.objects, []string{"SMS", "MSG", "MESSAGE", "MESSAGES"}) {
				all[foldWords(o+" "+w)] = true
			}
		}
	}
	return all
}

// noMore returns what people write in English in place of STOP: don't send any more messages.
func noMore() []string {
	texts := []string{"STOP IT", "STOP THIS", "STOP COACH", "NO MORE MESSAGES", "NO MORE MESSAGE", "NO MORE SMS", "NO MORE TEXTS", "NO MORE MSG", "NO MORE MSGS"}
	for _, send := range []string{"DON'T SEND", "DONT SEND", "DO NOT SEND"} {
		texts = append(texts, send)
		for _, me := range []string{"", " ME"} {
			for _, more := range []string{"", " ANY", " MORE", " ANY MORE"} {
				for _, object := range []string{"MESSAGES", "MESSAGE", "SMS", "TEXTS", "MSG", "MSGS"} {
					texts = append(texts, send+me+more+" "+object)
				}
			}
		}
	}
	return texts
}

// buttons are the texts of the buttons of a question.
var buttons = []string{"chat.yes", "chat.no", "chat.not_me"}

// isAnswer reports whether folded words are a typed answer in an offered language: one of its words, or the text
// of a button.
func isAnswer(words string) bool {
	if typedAnswers[words] {
		return true
	}
	for _, code := range language.Offered() {
		if slices.ContainsFunc(wordsOfLanguages[code].answers, func(w string) bool { return foldWords(w) == words }) ||
			slices.ContainsFunc(buttons, func(key string) bool { return foldWords(textsIn(code).byKey[key]) == words }) {
			return true
		}
	}
	return false
}
