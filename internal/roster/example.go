package roster

// Examples are the players of the example file.
var Examples = []Entry{
	{
		StudentName: "Asha Rao", BirthDate: "2014-04-30", StudentNumber: "+919800000001",
		GuardianName: "Ravi Rao", Relationship: "father", GuardianNumber: "+919800000002", GuardianEmail: "ravi@example.com",
		GuardianLanguage: LanguageName("hi"),
	},
	{StudentName: "Kiran Das", BirthDate: "2005-11-02", StudentNumber: "+919800000003"},
}
