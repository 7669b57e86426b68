package server

import (
	"errors"
	"io/fs"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/privacy"
)

// noticeTexts returns the notice to families in each language. The error is config.Errors.
func noticeTexts(cfg *config.Config) ([]privacy.Notice, error) {
	words := privacy.Words{Brand: cfg.Brand, Contact: cfg.Contact(), Authority: cfg.PrivacyProfile, Kept: retention(cfg)}
	list, err := privacy.ReadNotices(cfg.NoticeFolder(), words)
	if err != nil {
		message := err.Error()
		if perr, ok := errors.AsType[*fs.PathError](err); ok {
			message = "cannot read " + perr.Path + ": " + perr.Err.Error()
		}
		return nil, config.Errors{{Name: "TOUCHLINE_NOTICE", Value: cfg.Notice, Message: message}}
	}
	return list, nil
}

// CheckNotice returns the errors in the folder of NOTICE. It is a config.Check.
func CheckNotice(cfg *config.Config) config.Errors {
	_, err := noticeTexts(cfg)
	errs, _ := errors.AsType[config.Errors](err)
	return errs
}

func retention(cfg *config.Config) privacy.Retention {
	return privacy.Retention{
		Deleted: cfg.RetainDeleted, Unanswered: cfg.RetainUnanswered, Notifications: cfg.RetainNotifications, Deliveries: cfg.RetainDeliveries,
		Medical: cfg.RetainMedical,
	}
}
