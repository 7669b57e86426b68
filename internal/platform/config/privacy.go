package config

import (
	"cmp"
	"time"
)

// PrivacyProfile has the defaults that the law of a place asks for. docs/privacy.md names the laws.
type PrivacyProfile struct {
	Name string
	// GuardianBelow is the age in full years below which a guardian must agree before a student has app
	// services; 0 if the student's yes is always enough.
	GuardianBelow int
	// GuardianProof is the default of GUARDIAN_PROOF; "" is off.
	GuardianProof string
	// SecondMessage is how long after a guardian's yes a second message repeats it; 0 sends none.
	SecondMessage time.Duration
	// ApprovalFreshness is the default of APPROVAL_FRESHNESS.
	ApprovalFreshness time.Duration
	// RetainDeleted is how long the data of a deleted player is kept, RetainUnanswered that of a player whose
	// family has not answered, RetainNotifications and RetainDeliveries those of the app and of messages.
	RetainDeleted, RetainUnanswered, RetainNotifications, RetainDeliveries time.Duration
}

const day = 24 * time.Hour

// PrivacyProfiles are the values of PRIVACY_PROFILE, the default first.
var PrivacyProfiles = []PrivacyProfile{
	{Name: none, RetainDeleted: 30 * day, RetainUnanswered: 180 * day, RetainNotifications: 365 * day, RetainDeliveries: 90 * day},
	{
		Name: "india", GuardianBelow: 18, GuardianProof: "required", ApprovalFreshness: 15 * time.Minute,
		RetainDeleted: 365 * day, RetainUnanswered: 180 * day, RetainNotifications: 365 * day, RetainDeliveries: 365 * day,
	},
	{
		Name: "eu", GuardianBelow: 16, ApprovalFreshness: 15 * time.Minute,
		RetainDeleted: 30 * day, RetainUnanswered: 180 * day, RetainNotifications: 365 * day, RetainDeliveries: 90 * day,
	},
	{
		Name: "us", GuardianBelow: 13, SecondMessage: day,
		RetainDeleted: 30 * day, RetainUnanswered: 180 * day, RetainNotifications: 365 * day, RetainDeliveries: 90 * day,
	},
}

// adultAge is team.AdultAge.
const adultAge = 18

// Profile returns the profile that PRIVACY_PROFILE names.
func (c *Config) Profile() PrivacyProfile {
	for _, p := range PrivacyProfiles {
		if p.Name == c.PrivacyProfile {
			return p
		}
	}
	return PrivacyProfiles[0]
}

// GuardianBelow returns the age in full years below which a guardian must agree before a student has app
// services, or 0.
func (c *Config) GuardianBelow() int {
	if c.RequireGuardianForMinors {
		return adultAge
	}
	return c.Profile().GuardianBelow
}

// derivePrivacy sets the defaults that depend on PRIVACY_PROFILE.
func (c *Config) derivePrivacy() {
	if !c.isSet("APPROVAL_FRESHNESS") {
		c.ApprovalFreshness = c.Profile().ApprovalFreshness
	}
	if !c.isSet("GUARDIAN_PROOF") {
		c.GuardianProof = cmp.Or(c.Profile().GuardianProof, off)
	}
	if !c.isSet("REQUIRE_GUARDIAN_FOR_MINORS") {
		c.RequireGuardianForMinors = c.Profile().GuardianBelow >= adultAge
	}
	p := c.Profile()
	for name, retain := range map[string]struct {
		to        *time.Duration
		byProfile time.Duration
	}{
		"RETAIN_DELETED":       {&c.RetainDeleted, p.RetainDeleted},
		"RETAIN_UNANSWERED":    {&c.RetainUnanswered, p.RetainUnanswered},
		"RETAIN_NOTIFICATIONS": {&c.RetainNotifications, p.RetainNotifications},
		"RETAIN_DELIVERIES":    {&c.RetainDeliveries, p.RetainDeliveries},
	} {
		if !c.isSet(name) {
			*retain.to = retain.byProfile
		}
	}
}

func (c *Config) checkGuardians() []string {
	if p := c.Profile(); !c.RequireGuardianForMinors && p.GuardianBelow >= adultAge {
		return []string{"must be on with the PRIVACY_PROFILE " + p.Name}
	}
	return nil
}

// ProvidersFile returns IDENTITY_PROVIDERS, or "" for none.
func (c *Config) ProvidersFile() string {
	if c.IdentityProviders == none {
		return ""
	}
	return c.IdentityProviders
}

func (c *Config) checkProviders() []string {
	if c.ProvidersFile() == "" {
		return nil
	}
	return optional(checkPath(c.IdentityProviders))
}
