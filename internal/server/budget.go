package server

import (
	"context"
	"log/slog"
	"strings"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/store"
)

// budgets are the budget lines of SMS_BUDGET.
type budgets []*budget

func newBudgets(cfg *config.Config, db *store.DB, log *slog.Logger) budgets {
	list := budgets{{db: db, line: message.SMSCosts, name: "sms", setting: "SMS_BUDGET", budget: cfg.SMSBudget.SMS, log: log}}
	if cfg.HasVoice() {
		list = append(list, &budget{db: db, line: message.CallCosts, name: "call", setting: "SMS_BUDGET for calls", budget: cfg.SMSBudget.Calls, log: log})
	}
	return list
}

// check warns once at 80 % of each budget.
func (list budgets) check(ctx context.Context) error {
	for _, b := range list {
		if err := b.check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// budget warns when the costs of a line approach its budget. One goroutine calls check.
type budget struct {
	db            *store.DB
	line          message.CostLine
	name, setting string
	budget        config.Money
	log           *slog.Logger
	// short is true after a warning, until the costs of 24 h are below the limit again and no
	// message waits.
	short bool
}

// check warns once at 80 % of the budget, and earlier if a message waits that would exceed them.
func (b *budget) check(ctx context.Context) error {
	if b.budget == 0 {
		return nil
	}
	spent, err := b.db.Outbox.Spent(ctx, b.line)
	if err != nil {
		return err
	}
	held, err := b.db.Outbox.BudgetHolds(ctx, b.line)
	if err != nil {
		return err
	}
	before, reached := b.short, message.Limits{Budget: int64(b.budget), CallBudget: int64(b.budget)}.BudgetShort(b.line, spent)
	b.short = reached || held
	switch {
	case held && !reached && !before:
		b.log.Warn("messages wait because they would exceed 80 % of "+b.setting+"; the rest is for OTPs to numbers that hold their role",
			"spent", config.Money(spent), "budget", b.budget)
	case b.short && !before:
		b.log.Warn("80 % of "+b.setting+" are spent: until costs of the last 24 h fall, messages wait and only OTPs to numbers that hold their role are sent",
			"spent", config.Money(spent), "budget", b.budget)
	case !b.short && before:
		b.log.Info(b.setting+" admits messages again", "spent", config.Money(spent), "budget", b.budget)
	}
	return nil
}

// spent returns the costs of the last 24 h, for the metrics.
func (b *budget) spent(ctx context.Context) (float64, error) {
	spent, err := b.db.Outbox.Spent(ctx, b.line)
	return config.Money(spent).Units(), err
}

// otpSegments returns how many segments an OTP has in a language.
func otpSegments(cfg *config.Config, role actor.Role, language string) int {
	return message.Segments(message.OTPText(message.Message{
		Kind: message.OTP, Role: role, Language: language, Brand: cfg.Brand, Code: strings.Repeat("0", cfg.OTPLength), ValidFor: cfg.OTPValidity,
		Ending: message.OTPEnding{Host: message.OTPHost(cfg.PublicURL), AppHash: cfg.AppHash()},
	}))
}

// maxOTPCost returns the highest cost of an OTP.
func maxOTPCost(cfg *config.Config) (highest int64) {
	for _, p := range cfg.SMSPrices {
		if p.Of != "" && p.Of != "whatsapp_otp" {
			continue
		}
		for _, role := range actor.Roles {
			for _, code := range language.Offered() {
				highest = max(highest, int64(otpSegments(cfg, role, code))*int64(p.Price))
			}
		}
	}
	return highest
}

// maxCallCost returns the highest cost of a call.
func maxCallCost(cfg *config.Config) (highest int64) {
	for _, p := range cfg.SMSPrices {
		highest = max(highest, int64(p.Price)) // without a price for calls, that of a segment
	}
	return highest
}
