// Package roster moves a coach's players in and out as spreadsheets.
//
// Service reads a CSV file or cells that were pasted from a spreadsheet as a stream, keeps its
// rows as an import, shows them with their faults, and adds the players in steps that a
// page or an API client starts, so that an import can stop and continue at any row.
// Writer writes players as CSV that an import reads back without change.
package roster
