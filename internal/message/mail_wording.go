package message

// mailWords are the texts of mails in one language. They may contain {brand}, {coach} at the
// start of a sentence and {the coach} inside one, {student}, {students}, {code}, and {page}, the
// address at which the code can be entered.
type mailWords struct {
	language string

	subject, subjectAgain, subjectReminder, subjectSeveral string
	heading, headingSeveral                                string
	// who names the coach and the student; yes explains the effect of a yes, and lists the
	// functions that work without it.
	who, whoAgain, whoReminder, whoSeveral, yes string
	answer, answerAbout                         string
	both, shortCode, notMe                      string

	open, comes, stop, notice         string
	addressOfGuardian, addressOfCoach string

	// The texts of codes may contain {validity}.
	subjectCode, subjectConfirm, codeValid, codeSecret string
	addressConfirmed, addressToConfirm                 string
}

var mailWordsByLanguage = map[string]mailWords{
	english: {
		language: english,
		subject:  "{coach} has a question for you", subjectAgain: "{coach} asks you again",
		subjectReminder: "Reminder: {the coach} has a question for you", subjectSeveral: "{coach} has questions for you",
		heading: "May {brand} serve you about {student}?", headingSeveral: "May {brand} serve you about {students}?",
		who:         "{coach} added {student} and asks for your answer. {brand} is a program for sports coaches and the families of their students.",
		whoAgain:    "{coach} asks you again about {student}. {brand} is a program for sports coaches and the families of their students.",
		whoReminder: "{coach} asked you about {student}. The question is still open. {brand} is a program for sports coaches and the families of their students.",
		whoSeveral:  "{coach} added {students} and asks for your answer about each of them. {brand} is a program for sports coaches and the families of their students.",
		yes:         "With a yes, the app gives you messages, reports, fee reminders, team news, payments and progress. With a no, nothing that works now stops: chat and SMS from the coach, attendance and fees go on.",
		answer:      "Read the question and answer", answerAbout: "Answer about",
		both:      "Yes and no are both fine, and you can take a yes back on any day. To say yes you need a code, which comes by SMS to your number.",
		shortCode: "You can also open {page} and enter your mobile number and the letters {code}.",
		notMe:     "Is this not your child? Open the link and choose “This isn't me”. Then we send no more mail to this address.",
		comes:     "Say who comes",
		open:      "Open {brand}", stop: "Stop mail to this address", notice: "What we keep and why",
		addressOfGuardian: "You get this mail because a coach gave this address as that of a guardian.",
		addressOfCoach:    "You get this mail because this address is in your profile at {brand}.",
		subjectCode:       "Your code for {brand}", subjectConfirm: "Confirm this address for {brand}",
		codeValid:        "Enter this code on the page on which you asked for it. It works for {validity}.",
		codeSecret:       "Do not tell this code to anyone, not even a coach. If you did not ask for it, you need not do anything.",
		addressConfirmed: "You get this mail because someone signs in at {brand} with the number for which you confirmed this address. You can remove the address in the settings.",
		addressToConfirm: "You get this mail because someone entered this address in the settings of {brand}. Without the code the address is not used.",
	},
	hindi: {
		language: hindi,
		subject:  "{coach} का आपके लिए एक सवाल है", subjectAgain: "{coach} ने आपसे फिर पूछा है",
		subjectReminder: "याद दिलाने के लिए: {the coach} का आपके लिए एक सवाल है", subjectSeveral: "{coach} के आपके लिए कुछ सवाल हैं",
		heading: "क्या {brand} आपको {student} के बारे में सेवा दे?", headingSeveral: "क्या {brand} आपको {students} के बारे में सेवा दे?",
		who:         "{coach} ने {student} को जोड़ा है और आपका जवाब माँगा है। {brand} खेल के कोच और उनके विद्यार्थियों के परिवारों का प्रोग्राम है।",
		whoAgain:    "{coach} ने आपसे {student} के बारे में फिर पूछा है। {brand} खेल के कोच और उनके विद्यार्थियों के परिवारों का प्रोग्राम है।",
		whoReminder: "{coach} ने आपसे {student} के बारे में पूछा था। सवाल अब भी खुला है। {brand} खेल के कोच और उनके विद्यार्थियों के परिवारों का प्रोग्राम है।",
		whoSeveral:  "{coach} ने {students} को जोड़ा है और हर एक के बारे में आपका जवाब माँगा है। {brand} खेल के कोच और उनके विद्यार्थियों के परिवारों का प्रोग्राम है।",
		yes:         "हाँ कहने पर ऐप आपको संदेश, रिपोर्ट, फ़ीस की याद, टीम की खबरें, भुगतान और प्रगति दिखाता है। ना कहने पर जो अभी चलता है, वह चलता रहेगा: कोच की चैट और SMS, हाज़िरी और फ़ीस।",
		answer:      "सवाल पढ़ें और जवाब दें", answerAbout: "जवाब दें:",
		both:      "हाँ और ना, दोनों ठीक हैं, और हाँ किसी भी दिन वापस ली जा सकती है। हाँ कहने के लिए एक कोड चाहिए, जो आपके नंबर पर SMS से आता है।",
		shortCode: "आप {page} भी खोल सकते हैं, और वहाँ अपना मोबाइल नंबर और ये अक्षर लिख सकते हैं: {code}",
		notMe:     "क्या यह आपका बच्चा नहीं है? लिंक खोलें और “यह मैं नहीं हूँ” चुनें। फिर हम इस पते पर और मेल नहीं भेजेंगे।",
		comes:     "आने के बारे में बताएँ",
		open:      "{brand} खोलें", stop: "इस पते पर मेल बंद करें", notice: "हम क्या रखते हैं और क्यों",
		addressOfGuardian: "आपको यह मेल इसलिए मिली कि एक कोच ने यह पता अभिभावक का बताया।",
		addressOfCoach:    "आपको यह मेल इसलिए मिली कि यह पता {brand} पर आपकी प्रोफ़ाइल में है।",
		subjectCode:       "{brand} के लिए आपका कोड", subjectConfirm: "{brand} के लिए इस पते की पुष्टि करें",
		codeValid:        "यह कोड उस पेज पर लिखें जहाँ आपने इसे माँगा था। यह {validity} तक चलेगा।",
		codeSecret:       "यह कोड किसी को न दें, कोच को भी नहीं। अगर आपने इसे नहीं माँगा, तो आपको कुछ नहीं करना है।",
		addressConfirmed: "आपको यह मेल इसलिए मिली कि कोई {brand} पर उस नंबर से साइन इन कर रहा है जिसके लिए आपने इस पते की पुष्टि की थी। आप यह पता सेटिंग में हटा सकते हैं।",
		addressToConfirm: "आपको यह मेल इसलिए मिली कि किसी ने {brand} की सेटिंग में यह पता लिखा। कोड के बिना यह पता काम में नहीं आता।",
	},
}

// mailWordsOf returns the texts in a language, or those in the default one.
func mailWordsOf(language string) mailWords {
	if w, ok := mailWordsByLanguage[language]; ok {
		return w
	}
	return mailWordsByLanguage[Languages[0]]
}
