package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// hindiWording returns the title and body of a notification in Hindi, or "" for a type that
// has none.
func hindiWording(to actor.Role, t Type, e event.Event, brand string) (title, body string) {
	coach, student := titled("कोच", e.CoachName, "आपके कोच"), Name(e.StudentName, "विद्यार्थी")
	guardian, unknownCoach := titled("अभिभावक", e.GuardianName, "अभिभावक"), titled("कोच", e.CoachName, "एक कोच")
	switch t {
	case GuardianApproved:
		return "अभिभावक ने हाँ कहा", fmt.Sprintf("%s ने %s के लिए ऐप की मंज़ूरी दी।", guardian, student)
	case GuardianRejected:
		return "अभिभावक ने ना कहा", fmt.Sprintf("%s ने %s के लिए ऐप की मंज़ूरी नहीं दी। जानकारी ठीक करें, फिर सवाल दोबारा भेजें। चैट और SMS चलते रहेंगे।", guardian, student)
	case GuardianRevoked:
		if to == actor.Guardian {
			return "आपने अपनी हाँ वापस ली", fmt.Sprintf("%s के बारे में ऐप आपके लिए बंद है। %s को बता दिया गया।", student, coach)
		}
		return "अभिभावक ने हाँ वापस ली", fmt.Sprintf("%s ने %s के लिए ऐप की मंज़ूरी वापस ली। चैट और SMS चलते रहेंगे।", guardian, student)
	case StudentApproved:
		return "विद्यार्थी ने हाँ कहा", fmt.Sprintf("%s ने अपनी प्रोफ़ाइल मंज़ूर की।", student)
	case StudentRejected:
		return "विद्यार्थी ने ना कहा", fmt.Sprintf("%s ने अपनी प्रोफ़ाइल मंज़ूर नहीं की। उनसे जानकारी जाँचें, फिर सवाल दोबारा भेजें। चैट और SMS चलते रहेंगे।", student)
	case StudentRevoked:
		if to == actor.Student {
			return "आपने अपनी हाँ वापस ली", fmt.Sprintf("%s के साथ ऐप आपके लिए बंद है। कोच को बता दिया गया।", coach)
		}
		return "विद्यार्थी ने हाँ वापस ली", fmt.Sprintf("%s ने ऐप की मंज़ूरी वापस ली। चैट और SMS चलते रहेंगे।", student)
	case PendingReminder:
		if e.Count == 1 {
			return "एक परिवार ने अभी जवाब नहीं दिया", fmt.Sprintf("1 सवाल का जवाब %s से ज़्यादा समय से नहीं आया।", hindiSpan(e.Waited))
		}
		return "परिवारों ने अभी जवाब नहीं दिया", fmt.Sprintf("%d सवालों का जवाब %s से ज़्यादा समय से नहीं आया।", e.Count, hindiSpan(e.Waited))
	case GuardianRequest:
		return "आपका जवाब चाहिए", fmt.Sprintf("%s ने %s को %s में जोड़ा। ऐप चालू करने के लिए मंज़ूरी दें, या ना कहें।", unknownCoach, student, wordsOf(hindi).batches(e.BatchNames))
	case GuardianApprovalConfirmed:
		return "आपने हाँ कहा", fmt.Sprintf("आपने %s के लिए ऐप की मंज़ूरी दी। कोच: %s। आप इसे किसी भी दिन वापस ले सकते हैं।", student, Name(e.CoachName, "आपके कोच"))
	case GuardianRejectConfirmed:
		return "आपने ना कहा", fmt.Sprintf("%s के बारे में ऐप आपके लिए बंद रहेगा। कोच को बता दिया गया।", student)
	case StudentRequest:
		return "आपकी प्रोफ़ाइल तैयार है", fmt.Sprintf("%s ने आपको%s %s में जोड़ा। सब कुछ इस्तेमाल करने के लिए मंज़ूरी दें, या ना कहें।", unknownCoach, apposition(e.StudentName), hindiBatchesOrList(e.BatchNames))
	case StudentApprovalConfirmed:
		return "आपने हाँ कहा", "आपकी प्रोफ़ाइल मंज़ूर है। सब कुछ चालू है। आप इसे किसी भी दिन वापस ले सकते हैं।"
	case StudentRejectConfirmed:
		return "आपने ना कहा", "आपने अपनी प्रोफ़ाइल मंज़ूर नहीं की। आपके कोच जानकारी ठीक करेंगे।"
	case RequestReminder:
		return "एक सवाल अब भी खुला है", fmt.Sprintf("%s ने %s के बारे में फिर पूछा है। ऐप चालू करने के लिए मंज़ूरी दें, या ना कहें।", unknownCoach, student)
	case RequestDisputed:
		return "यह नंबर किसी और का है", fmt.Sprintf("%s के लिए आपने जो नंबर दिया (%s), वह किसी और का है। सही नंबर पूछें और उसे ठीक करें।", student, hindiParty(e.Party))
	case DisputeLifted:
		return "आप फिर पूछ सकते हैं", fmt.Sprintf("%s के लिए आपने जो नंबर दिया (%s), वह सही है। आप सवाल दोबारा भेज सकते हैं।", student, hindiParty(e.Party))
	case DeliveryFailed:
		name := student
		if e.Party == actor.Guardian {
			name = guardian
		}
		if Channel(e.Channel) == Email {
			return "एक मेल नहीं पहुँची", fmt.Sprintf("%s को सवाल मेल से नहीं भेजा जा सका। ईमेल पता जाँचें और सवाल दोबारा भेजें, या SMS भेजें।", name)
		}
		return "एक संदेश नहीं पहुँचा", fmt.Sprintf("%s को सवाल%s नहीं भेजा जा सका। नंबर जाँचें और सवाल दोबारा भेजें।", name, hindiChannel(e))
	case FeeReminder:
		return "एक फ़ीस देनी है", fmt.Sprintf("%s ने आपको %s की एक फ़ीस याद दिलाई है: %s। इसकी आख़िरी तारीख %s है। रकम देखने के लिए फ़ीस खोलें।", coach, student, Name(e.Title, "फ़ीस"), hindiDay(e.Day))
	case SecurityNotice:
		if e.Type == event.UPIChanged {
			return "आपकी UPI ID बदली गई", "परिवार अब दूसरी UPI ID पर पैसे भेजते हैं, और 7 दिन तक देखते हैं कि वह नई है। अगर यह आप नहीं थे, तो उसे वापस बदलें, हर जगह से साइन आउट करें और यह सेवा चलाने वालों को बताएँ।"
		}
		if e.Type == event.NumberChanged {
			return "आपका नंबर बदला गया", "अब आप नए नंबर से साइन इन करते हैं, और हमने बाकी सब जगह से आपको साइन आउट किया। अगर यह आप नहीं थे, तो हर जगह से साइन आउट करें और यह सेवा चलाने वालों को बताएँ।"
		}
		if e.Type == event.PasskeyAdded {
			return "एक पासकी जोड़ी गई", "अब एक नई पासकी आपके लिए साइन इन कर सकती है। अगर यह आप नहीं थे, तो हर जगह से साइन आउट करें। उससे सभी पासकी भी हट जाती हैं।"
		}
		return "सुरक्षा के लिए आपको साइन आउट किया गया", "एक पुराना साइन-इन दूसरी बार इस्तेमाल हुआ, इसलिए हमने उसे बंद किया। अगर यह आप नहीं थे, तो हर जगह से साइन आउट करें और फिर साइन इन करें।"
	case CertificateExpiring:
		return "एक प्रमाणपत्र जल्द ख़त्म होगा", fmt.Sprintf("“%s” %s तक चलेगा। नया अपलोड करें, या तारीख बदलें।", e.Title, hindiDay(e.Day))
	case KYCVerified:
		return "आपकी पहचान की पुष्टि हुई", "अब आप वह सब इस्तेमाल कर सकते हैं जिसके लिए पहचान ज़रूरी है।"
	case KYCRejected:
		return "आपकी पहचान की पुष्टि नहीं हुई", fmt.Sprintf("कारण: %s आप फिर भेज सकते हैं।", sentence(e.Reason))
	case TierApproved:
		return "आपको नया प्लान मिला", fmt.Sprintf("आपने %s प्लान माँगा था। अब वह आपका है।", e.Title)
	case TierRefused:
		if e.Reason == "" {
			return "आपका प्लान वही रहेगा", fmt.Sprintf("आपने %s प्लान माँगा था। वह अभी नहीं मिल सकता।", e.Title)
		}
		return "आपका प्लान वही रहेगा", fmt.Sprintf("आपने %s प्लान माँगा था। वह अभी नहीं मिल सकता। कारण: %s", e.Title, sentence(e.Reason))
	case TeamMessageType:
		return "आपके कोच का संदेश", fmt.Sprintf("%s ने आपको %s के बारे में लिखा।", coach, student)
	case FeeTold:
		who := guardian
		if e.Party == actor.Student {
			who = student
		}
		return "परिवार कहता है कि फ़ीस दे दी", fmt.Sprintf("%s कहते हैं कि %s के पैसे दे दिए। पैसे मिल गए हों तो भुगतान लिखिए।", who, Name(e.Title, "फ़ीस"))
	case TeamReplyType:
		if e.Party == actor.Guardian {
			return "एक जवाब", fmt.Sprintf("%s ने आपको %s के बारे में लिखा।", guardian, student)
		}
		return "एक जवाब", fmt.Sprintf("%s ने आपको लिखा।", student)
	case ProgressUpdate:
		return "नई प्रगति", fmt.Sprintf("%s ने %s का एक नया नतीजा जोड़ा।", coach, student)
	case PerformanceReport:
		return "एक नई रिपोर्ट", fmt.Sprintf("%s ने %s के बारे में एक रिपोर्ट लिखी।", coach, student)
	case TrainingAdded, TrainingChanged, TrainingCancelled, TrainingRestored, TrainingAsked:
		return hindiTraining(e, coach, student)
	case PlayerChanged:
		return "कुछ बदला गया है", fmt.Sprintf("%s ने %s की जानकारी बदली: %s। कृपया देखें कि सही है या नहीं।", coach, student, changeList(hindi, e.Changes))
	case PlayerRemoved:
		if e.Type == event.Removed {
			return "आप अब जुड़े नहीं हैं", fill(templatePlayerRemoved, hindi, map[string]string{"coach": coach, "student": student, "brand": brand}).Body
		}
		return "आप अब जुड़े नहीं हैं", fmt.Sprintf("%s ने आपके साथ जुड़ाव ख़त्म किया। वहाँ ऐप आपके लिए बंद है।", coach)
	case CoachLeft:
		return "आपके कोच अब यहाँ नहीं हैं", fill(templateCoachLeft, hindi, map[string]string{"coach": coach, "brand": brand, "students": wordsOf(hindi).list(studentsOf(e))}).Body
	}
	return "", ""
}

func hindiParty(party actor.Role) string {
	if party == actor.Guardian {
		return "अभिभावक"
	}
	return "विद्यार्थी"
}

// hindiChannel returns " SMS से", or "" for a channel without a name here.
func hindiChannel(e event.Event) string {
	if name := channelNames[Channel(e.Channel)]; name != "" {
		return " " + name + " से"
	}
	return ""
}

// hindiSpan formats d like span.
func hindiSpan(d time.Duration) string {
	number, unit, _ := strings.Cut(span(d), " ")
	for prefix, name := range map[string]string{"day": "दिन", "hour": "घंटे", "minute": "मिनट", "second": "सेकंड"} {
		if strings.HasPrefix(unit, prefix) {
			return number + " " + name
		}
	}
	return span(d)
}

var hindiMonths = []string{"जनवरी", "फ़रवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर", "अक्टूबर", "नवंबर", "दिसंबर"}

// hindiDay formats YYYY-MM-DD as "2 जनवरी 2006".
func hindiDay(date string) string {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return strconv.Itoa(t.Day()) + " " + hindiMonths[t.Month()-1] + " " + strconv.Itoa(t.Year())
}

// hindiBatchesOrList names batches, or "the coach's list" if there are none.
func hindiBatchesOrList(names []string) string {
	if len(names) == 0 {
		return "अपनी सूची"
	}
	return wordsOf(hindi).batches(names)
}
