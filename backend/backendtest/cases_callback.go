package backendtest

import (
	"frontdesk/mapping"
)

// callbackCases are the rules of callbacks that can be judged without being
// called back: none of them begins a job.
func callbackCases() []Case {
	const hint = "The gateway judges webhook_url before it keeps a job; see webhooks.ports and webhooks.allow_hosts in its configuration."
	refused := func(id, says, url string, reason mapping.Reason, args ...string) Case {
		return rule(id, says, hint, func(t *T) {
			body := values{}
			if url != "" {
				body["webhook_url"] = url
			}
			t.refusal(t.call("POST", "/backup/owner", body.json()), []mapping.Scope{mapping.OpCreate}, reason, args...)
		})
	}
	const plain, literal = "http://hooks.example.nl/a", "https://127.0.0.2/a"
	return []Case{
		refused("backup.owner.webhook_url_required", "webhook_url missing: 403 Field: webhook_url is required and not supplied in request", "",
			mapping.FieldRequired, "webhook_url"),
		refused("backup.owner.webhook_url_https", "webhook_url must start with https: 403 Field: webhook_url has an invalid value: <x> for validation: https", plain,
			mapping.ValidationFailed, "webhook_url", plain, "https"),
		refused("backup.owner.webhook_url_public", "webhook_url must be publicly reachable: 403 Field: webhook_url has an invalid value: <x> for validation: public address", literal,
			mapping.ValidationFailed, "webhook_url", literal, "public address"),
		rule("webhook.unknown", "GET /webhook of an unknown id: 404 Field: id value: <x> not found", hint, func(t *T) {
			const id = "00000000000000000000000000000000"
			t.refusal(t.call("GET", "/webhook?id="+id, ""), []mapping.Scope{mapping.OpGet}, mapping.RecordNotFound, "id", id)
		}),
	}
}
