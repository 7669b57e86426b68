package server

import (
	"fmt"
	"io/fs"
	"reflect"
	"sync"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/coaching"
	"github.com/touchline/touchline/internal/consent"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/identity"
	"github.com/touchline/touchline/internal/notifications"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/server/devphone"
	"github.com/touchline/touchline/internal/signin"
	"github.com/touchline/touchline/internal/training"
	"github.com/touchline/touchline/internal/verification"
	"github.com/touchline/touchline/internal/web"
)

// feature is what the listeners serve of a feature's folder. A part that it does not have is nil.
type feature struct {
	files      fs.FS // templates and texts of pages
	pages      func(*web.Pages) []web.Route
	operations func(*api.Server) []api.Route
	operators  func(*admin.Server) []admin.Route
}

// features lists the features that have a folder.
func (s *services) features() []feature {
	return []feature{
		{pages: s.screens.Pages, operations: s.screens.Operations},
		{files: signin.Files, pages: s.signin.Pages, operations: s.signin.Operations},
		{files: coaching.Files, pages: s.coaching.Pages, operations: s.coaching.Operations},
		{files: consent.Files, pages: s.consent.Pages, operations: s.consent.Operations, operators: consent.OperatorOperations(s.approvals)},
		{files: fee.Files, pages: s.fees.Pages, operations: s.fees.Operations},
		{files: batch.Files, pages: s.batches.Pages, operations: s.batches.Operations},
		{files: attendance.Files, pages: s.attended.Pages, operations: s.attended.Operations},
		{files: training.Files, pages: s.trainings.Pages, operations: s.trainings.Operations},
		{files: progress.Files, pages: s.progress.Pages, operations: s.progress.Operations},
		{files: conversation.Files, pages: s.conversations.Pages, operations: s.conversations.Operations, operators: s.conversations.OperatorOperations},
		{files: roster.Files, pages: s.players.Pages, operations: s.players.Operations},
		{files: verification.Files, pages: s.verifications.Pages, operations: s.verifications.Operations, operators: s.verifications.OperatorOperations},
		{files: document.Files, pages: s.documents.Pages, operations: s.documents.Operations},
		{files: notifications.Files, pages: s.notifications.Pages, operations: s.notifications.Operations},
		{files: privacy.Files, pages: s.privacy.Pages, operations: s.privacy.Operations},
		{files: proof.Files, pages: s.proof.Pages, operations: s.proof.Operations, operators: s.proof.OperatorOperations},
		{files: identity.Files, pages: s.identity.Pages, operations: s.identity.Operations, operators: s.identity.OperatorOperations},
		{files: feed.Files, operators: s.feed.OperatorOperations},
		s.developmentPhones(),
	}
}

// developmentPhones serves the phones of a service for development. Another service has none of it but the
// templates, which all services of a process share.
func (s *services) developmentPhones() feature {
	if s.phones == nil {
		return feature{files: devphone.Files}
	}
	return feature{files: devphone.Files, pages: s.phones.Pages, operations: s.phones.Operations}
}

// partsOf returns the part of each feature that part selects, without nil.
func partsOf[T any](features []feature, part func(feature) (T, bool)) []T {
	var parts []T
	for _, f := range features {
		if p, ok := part(f); ok {
			parts = append(parts, p)
		}
	}
	return parts
}

// renderer returns the templates and texts of package web and of all features. Tests start many services, and parse once.
var renderer = sync.OnceValues(func() (*web.Renderer, error) {
	return web.NewRenderer(featureFiles()...)
})

// featureFiles returns the templates and texts of each feature.
func featureFiles() []fs.FS {
	return partsOf(new(services).features(), func(f feature) (fs.FS, bool) { return f.files, f.files != nil })
}

// PagePatterns returns the patterns of all pages that answer GET, and of the console's.
func PagePatterns() (pages, console []string) {
	none := &services{base: base{phones: new(devphone.Phones)}}
	return web.Patterns(none.pages(), none.consolePages())
}

// APIFeatures returns what lists the operations of each feature, without its service.
func APIFeatures() []func(*api.Server) []api.Route {
	return (&services{base: base{phones: new(devphone.Phones)}}).operationsOfFeatures()
}

func (s *services) operationsOfFeatures() []func(*api.Server) []api.Route {
	return partsOf(s.features(), func(f feature) (func(*api.Server) []api.Route, bool) { return f.operations, f.operations != nil })
}

func (s *services) pages() []func(*web.Pages) []web.Route {
	return partsOf(s.features(), func(f feature) (func(*web.Pages) []web.Route, bool) { return f.pages, f.pages != nil })
}

func (s *services) consolePages() []func(*web.Console) []web.Route {
	return []func(*web.Console) []web.Route{s.console.ConsolePages, s.verifications.ConsolePages, s.feed.ConsolePages, s.identity.ConsolePages}
}

// check returns an error if newServices forgot a service.
func (s *services) check() error {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer && f.IsNil() {
			return fmt.Errorf("there is no service of %s", v.Type().Field(i).Name)
		}
	}
	return nil
}
