// Package phone reads, formats and masks mobile numbers. It owns what counts as a
// number that can receive an SMS, and leaves to others who may be written to.
package phone
