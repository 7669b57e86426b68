package server

import (
	"context"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/coaching"
	"github.com/touchline/touchline/internal/consent"
	"github.com/touchline/touchline/internal/console"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/identity"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/notifications"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/scan"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/screens"
	"github.com/touchline/touchline/internal/service"
	"github.com/touchline/touchline/internal/signin"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/training"
	"github.com/touchline/touchline/internal/verification"
	"github.com/touchline/touchline/internal/web"
)

// services are the services of both listeners.
type services struct {
	base
	fees          *fee.Service
	batches       *batch.Service
	attended      *attendance.Service
	trainings     *training.Service
	progress      *progress.Service
	conversations *conversation.Service
	players       *roster.Service
	feed          *feed.Service
	proof         *proof.Service
	identity      *identity.Service
	verifications *verification.Service
	documents     *document.Service
	auth          *auth.Service
	coaching      coaching.Service
	signin        signin.Service
	consent       consent.Service
	notifications notifications.Service
	screens       screens.Service
	// api and web are the settings of the public listener that have services.
	api       api.Config
	web       web.Config
	operators service.Operators
	console   console.Service
}

func newServices(cfg *config.Config, o Options, b base, files blob.Store) (*services, error) {
	accounts := newAuth(cfg, o, b.accounts, b.keys)
	accounts.LinkedRequest = func(ctx context.Context, linkHash []byte, number phone.Number, role actor.Role, now time.Time) (string, bool, error) {
		return player.LinkedRequest(ctx, b.db, linkHash, number, role, now)
	}
	common := newCommon(cfg, b.coaches(), b.tiers)
	profiles := newCoaching(cfg, o, b, accounts, common.Subscriptions)
	documents, newSpool, err := newDocuments(cfg, o, b, files, profiles)
	if err != nil {
		return nil, err
	}
	verifications := newVerifications(cfg, o, b.db, documents, b.security)
	verifications.Coaches = profiles.Coaches
	http := service.HTTP{
		NewSpool:    newSpool,
		Streams:     &notice.Streams{Hub: b.delivery.hub, DB: b.db, Process: o.NewID()},
		Idempotency: idempotency.New(idempotency.SQL{DB: b.sql}, b.keys.Vault.For(vault.ForResponses), o.Now, o.NewID, o.Log),
	}
	approvals := b.approvals
	consentLog := newProof(cfg, b.db, b.keys.Vault)
	consentLog.SecurityEvent, consentLog.Stopped, consentLog.Withhold = b.security.Event, b.metrics.LogStopped, approvals.WithholdUnproved
	consentLog.Failing, consentLog.Gate = b.metrics.CheckpointsFailing, b.gate
	passkeys, err := newPasskeys(cfg, b, accounts)
	if err != nil {
		return nil, err
	}
	identities, err := newIdentity(cfg, o, b)
	if err != nil {
		return nil, err
	}
	fees := &fee.Service{
		DB: b.db, Coaches: profiles.Coaches, Consent: approvals.Access(), DefaultCurrency: config.RegionCurrency(cfg.DefaultRegion), CheckFeature: common.Subscriptions.CheckFeature,
	}
	batches := &batch.Service{DB: b.db, Approvals: approvals, Consent: approvals.Access(), Claims: approvals.Rules.Claims, CheckFeature: b.checkFeature, Upcoming: training.Upcoming}
	attended := &attendance.Service{DB: b.db, Consent: approvals.Access(), CheckFeature: b.checkFeature, CannotCome: training.CannotCome}
	trainings := &training.Service{
		DB: b.db, Consent: approvals.Access(), CheckFeature: b.checkFeature, Secrets: b.keys.Vault.For(vault.ForTraining), PublicURL: cfg.PublicURL,
	}
	records := &progress.Service{DB: b.db, Consent: approvals.Access(), CheckFeature: b.checkFeature}
	players := &roster.Service{
		DB: b.db, Approvals: approvals, Coaches: profiles.Coaches, Batches: batches, Phones: common.Phones, CheckFeature: common.Subscriptions.CheckFeature,
		Log: o.Log,
	}
	conversations := newConversations(cfg, o, b, profiles.Coaches, common.Subscriptions)
	replies := newReplies(cfg, o, b.db.Outbox, common.Phones, b.metrics)
	replies.Chat = newInbox(cfg, o, b, conversations, accounts).Receive
	if b.phones != nil {
		b.phones.Reply, b.phones.Answer, b.phones.Ended, b.phones.Force = replies.Apply, approvals.AnswerCall, b.db.Outbox.StoreReceipt, approvals.Force
	}
	receipts := newReceipts(cfg, o, b.db.Outbox, b.keys.Vault, b.metrics)
	calls, err := newCalls(cfg, b, accounts, receipts)
	if err != nil {
		return nil, err
	}
	tray, dashboards := &notice.Tray{DB: b.db}, &coach.Dashboards{Store: b.coaches(), Required: cfg.ProfileRequired, Tiers: b.tiers, Now: o.Now}
	shown := screens.Service{
		DB: b.db, Accounts: accounts, Approvals: approvals, Profiles: profiles.Coaches, Dashboards: dashboards, Subscriptions: common.Subscriptions, Tray: tray,
		Fees: fees, Batches: batches, Attended: attended, Trainings: trainings, Records: records, Conversations: conversations,
		Documents: documents, Verifications: verifications, Proof: consentLog,
	}
	signIn := signin.Service{Auth: accounts, Passkeys: passkeys, Coaches: profiles.Coaches, Streams: http.Streams, Leave: b.privacy.Leave}
	memory, uploads := new(bodies.Memory), new(upload.Limiter)
	s := &services{
		base: b, auth: accounts, coaching: profiles, signin: signIn, screens: shown,
		fees: fees, batches: batches, attended: attended, trainings: trainings, conversations: conversations, verifications: verifications, documents: documents, progress: records, players: players, proof: consentLog, identity: identities, feed: &feed.Service{DB: b.db, Webhooks: newWebhooks(cfg, o, b.db, b.delivery.webhooks.Wake), Rules: approvals.Rules, Waiting: b.delivery.waiting, Now: o.Now},
		consent: consent.Service{
			Service: approvals, Coaches: profiles.Coaches, Dashboards: dashboards, Subscriptions: common.Subscriptions, Tray: tray, SignIn: signIn,
			Export: players.Export, Providers: identities.Choices, ChildPage: shown.ChildPage, Strip: shown.Strip,
		},
		notifications: notifications.Service{
			Auth: accounts, Passkeys: passkeys, Approvals: approvals, Subscriptions: common.Subscriptions, Tray: tray, Streams: http.Streams, Push: b.push,
			Preferences: b.db.Outbox,
		},
		api: api.Config{
			Auth: accounts, Approvals: approvals, Coaches: profiles.Coaches, Phones: common.Phones, Idempotency: http.Idempotency, NewSpool: newSpool,
			Replies: replies, Receipts: receipts, Calls: calls, Bounces: newBounces(cfg, o, b.db.Outbox),
			InFlight: b.load.inFlight, Bodies: memory, Uploads: uploads, UploadTimeouts: o.UploadTimeouts,
		},
		web: web.Config{
			Auth: accounts, Approvals: approvals, Directory: profiles.Directory, Tiers: b.tiers, Tray: tray, Preferences: b.db.Outbox, Phones: common.Phones,
			UnreadReplies: conversations.Unread, LeftOut: conversations.LeftOut, Idempotency: http.Idempotency, NewSpool: newSpool,
			InFlight: b.load.inFlight, Bodies: memory, Uploads: uploads, UploadTimeouts: o.UploadTimeouts,
		},
		operators: service.Operators{
			Shell: newShell(cfg, o, b.db, b.coaches(), common), HTTP: http,
			Inspector: &auth.Introspector{Auth: accounts},
			Vault:     b.keys.Vault,
		},
	}
	s.console = console.Service{
		Tokens: s.operators.Tokens, Accounts: s.operators.Accounts, Subscriptions: common.Subscriptions, Deliveries: s.operators.Deliveries,
		Streams: http.Streams, Phones: common.Phones,
	}
	b.privacy.Auth, b.privacy.Streams = accounts, http.Streams
	b.privacy.Export = privacy.Export{Family: shown.FamilySections, Receipts: shown.FamilyReceipts, Coach: shown.WriteAll}
	b.privacy.LeavePlayer, b.privacy.RemovePlayer = b.approvals.Leave, b.approvals.RemoveForErasure
	b.privacy.CloseCoach = func(ctx context.Context, by actor.Actor, also privacy.Also) error {
		return b.accounts.CloseAccountOf(ctx, by, also.Run)
	}
	return s, s.check()
}

// newProof returns the log of consents. A new log has the address of the service as its name.
func newProof(cfg *config.Config, db *store.DB, secrets *vault.Vault) *proof.Service {
	_, address, _ := strings.Cut(cfg.PublicURL, "://")
	return &proof.Service{
		DB: db, Secrets: secrets.For(vault.ForLog), Origin: address + "/log", File: cfg.CheckpointFile(), Sender: webhook.NewOperatorSender(db.Now), Witnesses: cfg.LogWitnesses,
		Access: proof.Access(cfg.Log),
	}
}

func newAuth(cfg *config.Config, o Options, db auth.Store, keys *auth.Keys) *auth.Service {
	newTokens := auth.NewTokens
	if !cfg.PublicURLSet() {
		newTokens = auth.NewTokensWithoutURL
	}
	return &auth.Service{
		Store:  db,
		Keys:   keys,
		Tokens: newTokens(keys, cfg.PublicURL, cfg.AccessTokenLifetime, o.Now),
		Settings: auth.Settings{
			OTPLength:           cfg.OTPLength,
			OTPValidity:         cfg.OTPValidity,
			OTPTries:            cfg.OTPTries,
			OTPResendAfter:      cfg.OTPResendAfter,
			OTPWrongPerDay:      cfg.OTPWrongPerDay,
			SendsPerHour:        cfg.OTPSendsPerHour,
			SendsPerDay:         cfg.OTPSendsPerDay,
			SendsPerAddressHour: cfg.OTPSendsPerAddressHour,
			SendsTotalHour:      cfg.OTPSendsTotalHour,
			AccessLifetime:      cfg.AccessTokenLifetime,
			RefreshIdle:         cfg.RefreshTokenIdle,
			RefreshLifetime:     cfg.RefreshTokenLifetime,
			RefreshGrace:        cfg.RefreshGrace,
			FraudRule:           cfg.OTPFraudRule,
			DefaultRegion:       cfg.DefaultRegion,
			OTPChannel:          string(otpChannel(cfg)),
			OTPByEmail:          cfg.MailServer().URL != "",
			OTPByVoice:          cfg.HasVoice(),
			OTPByChat:           cfg.HasWhatsApp(),
			Brand:               cfg.Brand,
			WhatsAppNumber:      cfg.WhatsAppNumber(),
			SMSNumber:           cfg.SMSNumber(),
			WhatsAppLog:         cfg.WhatsAppLog(),
			Reachable:           cfg.SMSAllowed,
			TestCode: func(n phone.Number, now time.Time) string {
				code, _ := cfg.TestCode(n, now)
				return code.Reveal()
			},
		},
		Now: o.Now, NewID: o.NewID, Rand: o.Rand,
	}
}

// newPasskeys returns the service of passkeys.
func newPasskeys(cfg *config.Config, b base, accounts *auth.Service) (*auth.Passkeys, error) {
	access := auth.PasskeyAccess{Origins: cfg.CORSOrigins}
	for _, app := range cfg.PasskeyApps {
		access.Apps = append(access.Apps, auth.PasskeyApp{ID: app.ID, Certificate: app.Certificate, Fingerprint: app.Fingerprint()})
	}
	rp, err := auth.NewRelyingParty(cfg.PublicURL, cfg.Brand, access)
	return &auth.Passkeys{Auth: accounts, RelyingParty: rp, Apps: access.Apps}, err
}

// newApprovals returns the service of consents, without its database.
func newApprovals(cfg *config.Config, o Options, ch channels, tiers coach.Tiers) *player.Service {
	return &player.Service{Brand: cfg.Brand, Hooks: PlayerHooks, Rand: o.Rand, Rules: approval.Rules{
		ResendAfter:         cfg.ResendAfter,
		RemindersPerWindow:  cfg.RemindersPerWindow,
		ReminderWindow:      cfg.ReminderWindow,
		GuardianBelow:       cfg.GuardianBelow(),
		ApprovalFreshness:   cfg.ApprovalFreshness,
		GuardianProof:       approval.ProofRule(cfg.GuardianProof),
		SecondMessage:       cfg.Profile().SecondMessage,
		Basis:               approval.BasisKind(cfg.Basis),
		AllowCoachAsContact: cfg.AllowCoachAsContact,
		Routes:              ch.routes(),
		Call:                callRoute(cfg, o),
		DefaultChannels:     ch.defaults(),
		HasChat:             ch.hasChat(),
		TestNumber:          isTestNumber(cfg, o),
		TierHas:             tiers.Has,
		CheckRoster:         checkRoster(tiers),
		WholeHistory:        wholeHistory(cfg),
		LinkValidity:        cfg.LinkValidity,
		Digest:              approval.DigestRules{After: cfg.PendingReminderAfter, Every: cfg.PendingReminderEvery},
		First:               firstChannels(cfg),
		TrustedCoach: func(tier, kyc string) bool {
			// A tier that coaches cannot choose is an operator's word.
			return kyc == string(coach.Verified) || tier != "" && !tiers.Of(tier).SelfService
		},
	}}
}

// newCoaching returns the service of profiles, tiers and the directory.
func newCoaching(cfg *config.Config, o Options, b base, accounts *auth.Service, subscriptions *coach.Subscriptions) coaching.Service {
	return coaching.Service{
		Auth: accounts, Subscriptions: subscriptions,
		Coaches:   &coach.Service{Store: b.coaches(), Required: cfg.ProfileRequired, DefaultTimeZone: phone.RegionTimeZone(cfg.DefaultRegion), Claims: b.approvals.Rules.Claims, Now: o.Now},
		Directory: &coach.Directory{Store: b.coaches(), Tiers: b.tiers, Required: cfg.ProfileRequired, Now: o.Now},
	}
}

// newDocuments returns the service of documents. newSpool creates a temporary file for an upload in
// DATA_DIR, because the system's folder for temporary files is often in memory.
func newDocuments(cfg *config.Config, o Options, b base, files blob.Store, profiles coaching.Service) (s *document.Service, newSpool func() (upload.Spool, error), err error) {
	p := document.FileProcessor{Dir: cfg.UploadDir()}
	if cfg.ClamAV != "off" {
		if p.Scanner, err = scan.New(cfg.ClamAV); err != nil {
			return nil, nil, err
		}
	}
	return &document.Service{
		DB: b.db, Profiles: profiles, Files: files, Processor: p, CheckStorage: b.tiers.CheckStorage, PublicPicture: profiles.Directory.ShowsPicture,
		Withdraw: verification.WithdrawDocument, Log: o.Log,
	}, func() (upload.Spool, error) { return blob.NewSpool(p.Dir, upload.MaxFile+1) }, nil
}
