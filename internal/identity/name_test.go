package identity

import "testing"

// TestFitName: the name of a provider is compared in any order and script.
func TestFitName(t *testing.T) {
	for _, tt := range []struct {
		entered, known string
		want           NameFit
	}{
		{"Sunita Sharma", "SUNITA SHARMA", SameName},
		{"Sunita Sharma", "Sharma, Sunita", SameName},
		{"Smt. Sunita Sharma", "Sunita Sharma", SameName},
		{"Zoë Müller", "Zoe Muller", SameName},
		{"Sunita", "Sunita Rani Sharma", SimilarName},
		{"Sunita R. Sharma", "Sunita Rani Sharma", SimilarName},
		{"सुनीता शर्मा", "Sunita Sharma", SimilarName},
		{"Sunita Sharma", "सुनीता शर्मा", SimilarName},
		{"सुनीता शर्मा", "सुनीता शर्मा", SameName},
		{"Gurpreet Singh", "गुरप्रीत सिंह", SimilarName},
		{"ਗੁਰਪ੍ਰੀਤ ਕੌਰ", "Gurpreet Kaur", SimilarName},
		{"সুনীতা শর্মা", "Sunita Sharma", SimilarName},
		{"Dinanath", "दीनानाथ", SimilarName},
		{"Nanda Kamal", "नन्दा कमल", SimilarName},
		{"Ramesh Sharma", "Sunita Sharma", OtherName},
		{"Sunita Sharma", "Sunita Verma", OtherName},
		{"S. K.", "Sunita Kumari", OtherName},
		{"Asha", "Usha", SimilarName}, // the vowels do not count
		{"Asha", "", UnknownName},
		{"", "Asha", OtherName},
	} {
		if got := fitName(tt.entered, tt.known); got != tt.want {
			t.Errorf("%q, %q: got %s, want %s", tt.entered, tt.known, got, tt.want)
		}
	}
}
