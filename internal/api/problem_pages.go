package api

import (
	"html/template"
	"net/http"

	"github.com/touchline/touchline/internal/apidocs"
	"github.com/touchline/touchline/internal/problem"
)

// problemPage is what the page of one code shows.
type problemPage struct {
	problem.Type
	MeaningHTML, WhatToDoHTML template.HTML
	StatusText                string
	AnsweredBy                []apidocs.Link
}

// problemGroup is the codes of one status, for the list of all.
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
