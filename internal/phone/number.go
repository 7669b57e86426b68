package phone

// Number is a mobile number in E.164, such as +919876543210. Only a Parser makes
// one out of what a stranger typed.
type Number string
