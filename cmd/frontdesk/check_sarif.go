package main

import (
	"net/url"
	"path/filepath"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// sarifLog is a report in the Static Analysis Results Interchange Format, 2.1.0.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Short sarifText `json:"shortDescription"`
	Help  sarifText `json:"help"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			Line   int `json:"startLine"`
			Column int `json:"startColumn"`
		} `json:"region"`
	} `json:"physicalLocation"`
}

// sarifOf is the report of what is wrong with a configuration.
func sarifOf(problems strictyaml.Problems) sarifLog {
	driver := sarifDriver{Name: "frontdesk check", Version: desk.Version()}
	index := map[string]int{}
	for _, rule := range config.Rules() {
		index[rule.ID] = len(driver.Rules)
		driver.Rules = append(driver.Rules, sarifRule{rule.ID, sarifText{rule.About}, sarifText{rule.About + " See docs/configuration.md, Rules."}})
	}
	results := make([]sarifResult, len(problems))
	for i, p := range problems {
		message := p.Message
		if p.Path != "" {
			message = p.Path + ": " + message
		}
		var at sarifLocation
		at.Physical.Artifact.URI = (&url.URL{Path: filepath.ToSlash(p.File)}).String()
		at.Physical.Region.Line, at.Physical.Region.Column = p.Line, p.Column
		results[i] = sarifResult{p.Rule, index[p.Rule], "error", sarifText{message}, []sarifLocation{at}}
	}
	return sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{sarifTool{driver}, "unicodeCodePoints", results}},
	}
}
