// Package team has what features share: days, money, marks, the type of a batch, and who has which
// service of the app.
//
// A coach can use them as soon as a player is added. A guardian or student reads them only
// after that party has approved: see Access. Package approval decides, and the store asks it in
// the transaction that reads or sends.
package team
