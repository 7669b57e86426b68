package api

import (
	"html/template"
	"net/http"

	"github.com/touchline/touchline/internal/platform/apidocs"
	"github.com/touchline/touchline/internal/platform/problem"
)

// problemPage is the data of the page of one code.
type problemPage struct {
	problem.Type
	MeaningHTML, WhatToDoHTML template.HTML
	StatusText                string
	Operations                []apidocs.Link
}

// problemGroup has the codes of one status.
type problemGroup struct {
	Status     int
	StatusText string
	Types      []problem.Type
}

func problemGroups() []problemGroup {
	var groups []problemGroup
	for _, p := range problem.Catalogue() {
		if n := len(groups); n == 0 || groups[n-1].Status != p.Status {
			groups = append(groups, problemGroup{Status: p.Status, StatusText: http.StatusText(p.Status)})
		}
		last := &groups[len(groups)-1]
		last.Types = append(last.Types, p)
	}
	return groups
}
