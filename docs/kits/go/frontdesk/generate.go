// Package frontdesk is the client that oapi-codegen makes of the description.
package frontdesk

//go:generate sh -c "cd .. && go tool oapi-codegen -config oapi-codegen.yaml openapi.json"
