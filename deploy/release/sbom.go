package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom is what the program of a platform is made of, in CycloneDX 1.6. There is nothing
// in it but what follows from the sources: no serial number, and the time of the commit.
func sbom(t tree, p platform, l linked) ([]byte, error) {
	version := strings.TrimPrefix(t.version, "v")
	self := &cdx.Component{
		BOMRef: "frontdesk", Type: cdx.ComponentTypeApplication, Name: "frontdesk", Version: version,
		Properties: &[]cdx.Property{
			{Name: "frontdesk:platform", Value: p.String()}, {Name: "frontdesk:commit", Value: t.commit}, {Name: "frontdesk:go", Value: l.goVersion},
		},
	}
	refs := map[string]string{}
	components := []cdx.Component{}
	for _, o := range l.others {
		components = append(components, component(o.name, o.version, o.purl, o.licence))
	}
	for _, m := range l.modules {
		refs[m.Path] = "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
		c := component(m.Path, m.Version, refs[m.Path], m.licence)
		sum, err := moduleSum(m.Sum)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}
		components = append(components, c)
	}
	needs := []cdx.Dependency{depends(self.BOMRef, l.needs, refs)}
	for _, o := range l.others {
		*needs[0].Dependencies = append(*needs[0].Dependencies, o.purl)
	}
	for _, m := range l.modules {
		needs = append(needs, depends(refs[m.Path], m.needs, refs))
	}
	bom := cdx.NewBOM()
	bom.SpecVersion, bom.JSONSchema = cdx.SpecVersion1_6, "http://cyclonedx.org/schema/bom-1.6.schema.json"
	bom.Metadata = &cdx.Metadata{Timestamp: t.time.Format(time.RFC3339), Component: self}
	bom.Components, bom.Dependencies = &components, &needs
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return out.Bytes(), err
}

func component(name, version, purl, licence string) cdx.Component {
	return cdx.Component{
		BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl, Scope: cdx.ScopeRequired,
		Licenses: &cdx.Licenses{{Expression: licence}},
	}
}

func depends(ref string, paths []string, refs map[string]string) cdx.Dependency {
	on := []string{}
	for _, path := range paths {
		on = append(on, refs[path])
	}
	return cdx.Dependency{Ref: ref, Dependencies: &on}
}

// moduleSum is the sum of a module, as go.sum has it, as the SHA-256 that it is.
func moduleSum(h1 string) (string, error) {
	digits, ok := strings.CutPrefix(h1, "h1:")
	sum, err := base64.StdEncoding.DecodeString(digits)
	if !ok || err != nil || len(sum) != 32 {
		return "", fmt.Errorf("%q is no sum of a module", h1)
	}
	return hex.EncodeToString(sum), nil
}
