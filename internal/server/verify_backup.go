package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/proof"
)

// readyTimeout limits the time in which the service on a restored copy becomes ready.
const readyTimeout = 30 * time.Second

// VerifiedBackup is the result of VerifyBackup.
type VerifiedBackup struct {
	Contents dump.Contents
	Audit    proof.Report
	// Findings are what is wrong with the backup.
	Findings []string
}

// VerifyBackup restores a backup into a temporary SQLite database, starts the service on it and audits its log of consents. The service
// sends nothing and works in the background on nothing. The temporary files have the data of the backup, and are deleted.
func VerifyBackup(ctx context.Context, cfg *config.Config, o Options, a *dump.Archive) (v VerifiedBackup, err error) {
	dir, err := os.MkdirTemp("", "touchline-verify-")
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	restored, err := copyConfig(cfg, dir)
	if err != nil {
		return v, err
	}
	if v.Contents, err = Restore(ctx, restored, a, nil); err != nil {
		return v, err
	}
	for _, key := range v.Contents.Files.Missing {
		v.Findings = append(v.Findings, "the file "+key+" was missing in the file store")
	}
	restored.Erasures = "" // the copy must show what the backup has
	o.Silent = true
	o.Log = slog.New(slog.DiscardHandler)
	o.Terminal = io.Discard
	if err := start(ctx, restored, o); err != nil {
		v.Findings = append(v.Findings, "the service does not start on the copy: "+err.Error())
		return v, ctx.Err()
	}
	operators, err := OpenOperators(ctx, restored, o)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, operators.Close()) }()
	log, err := operators.Log(ctx)
	if err != nil {
		return v, err
	}
	if v.Audit, err = log.Audit(ctx); err != nil {
		return v, fmt.Errorf("audit the log of consents: %w", err)
	}
	changed, err := changedDocuments(ctx, operators.sql, restored.Files.Reveal())
	v.Findings = slices.Concat(v.Findings, v.Audit.Findings, changed)
	return v, err
}

// changedDocuments compares the content of documents with their hashes. A file that is missing was reported before.
func changedDocuments(ctx context.Context, db *database.DB, address string) (findings []string, err error) {
	files, err := blob.Open(ctx, address, blob.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	list, err := document.ReadStored(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		r, _, err := files.Open(ctx, d.Blob)
		if errors.Is(err, blob.ErrNotFound) {
			continue
		}
		if err != nil {
			return findings, err
		}
		hash := sha256.New()
		_, err = io.Copy(hash, r)
		if err := errors.Join(err, r.Close()); err != nil {
			return findings, err
		}
		if hex.EncodeToString(hash.Sum(nil)) != d.SHA256 {
			findings = append(findings, "the file of the document "+d.ID+" differs from what was uploaded")
		}
	}
	return findings, nil
}

// copyConfig returns the settings for a copy of the service in a folder.
func copyConfig(cfg *config.Config, dir string) (*config.Config, error) {
	keys, err := cfg.MasterKeys()
	if err != nil {
		return nil, fmt.Errorf("a backup does not have the master key, which its data needs: %w", err)
	}
	c := *cfg
	c.DataDir = dir
	c.DatabaseURL = config.SecretURL("sqlite:" + filepath.Join(dir, "touchline.db"))
	c.Files = config.SecretURL("file:" + filepath.Join(dir, "files"))
	c.Erasures = filepath.Join(dir, "erasures")
	c.LogCheckpoint = "none" // the newest checkpoint is newer than the backup
	c.TLSCert, c.TLSKey, c.TLSAutocertDomains = "off", "off", "off"
	c.ShutdownDrain = 0
	for i, to := range []*config.Secret{&c.MasterKeyBase64, &c.NewMasterKeyBase64} {
		if i < len(keys) {
			*to = config.Secret(base64.StdEncoding.EncodeToString(keys[i]))
		}
	}
	return &c, nil
}

// start starts the service, waits until it is ready, and stops it.
func start(ctx context.Context, cfg *config.Config, o Options) error {
	app, err := Open(ctx, cfg, o)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, app.Close())
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- app.Serve(serving, l, nil) }()
	err = ready(ctx, "http://"+l.Addr().String()+"/readyz")
	stop()
	return errors.Join(err, <-served, app.Close())
}

// ready calls url once.
func ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 1000))
		return fmt.Errorf("/readyz answered %s: %s", res.Status, body)
	}
	return nil
}
