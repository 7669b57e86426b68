package database

// sqliteError is an error of the SQLite driver. The driver is registered where a program or test opens a database
// (cmd/touchline, storetest), so that programs and tests which only use rules do not link SQLite.
type sqliteError interface {
	error
	// Code returns an extended result code (https://sqlite.org/rescode.html); its low byte is the primary code.
	Code() int
}

// Primary result codes of SQLite.
const (
	sqliteGeneric   = 1
	sqliteBusy      = 5
	sqliteLocked    = 6
	sqliteNoMemory  = 7
	sqliteReadOnly  = 8
	sqliteInterrupt = 9
	sqliteIO        = 10
	sqliteCorrupt   = 11
	sqliteFull      = 13
	sqliteCantOpen  = 14
	sqliteProtocol  = 15
	sqliteNotADB    = 26
)

// Extended result codes of SQLite.
const (
	sqlitePrimaryKey = 1555
	sqliteUnique     = 2067
	sqliteRowID      = 2579
)
