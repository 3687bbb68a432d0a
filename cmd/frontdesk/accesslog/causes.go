package accesslog

import (
	"cmp"
	"fmt"
	"strings"

	"frontdesk/mapping"
)

// causeHelp explains the causes of refusals in the access log to operators; clients do not
// see these causes. mapping.HelpFor explains the reasons.
var causeHelp = map[string]mapping.Help{
	// Of a token.
	"none": {
		Cause: "The request had no token.",
		Cure:  "GET /authenticate gives one, which goes into the header token of every further request.",
	},
	"malformed": {
		Cause: "What the header token held is no token: it was cut, quoted, sent twice, or is something else.",
		Cure:  "Have the client send the token just as GET /authenticate answered it, once.",
	},
	"unknown": {
		Cause: "No session is known of that token: it was never given out, or ended more than half an hour before, or the gateway kept its sessions in memory and was restarted.",
		Cure:  "The client logs in again. If it happens to many at once, look for a restart and at sessions.store.",
	},
	"logged_out": {
		Cause: "Somebody had logged out of that session (GET /authenticate/logout).",
		Cure:  "The client logs in again. Where several of its programs share a token, the first that logs out ends it for all: give each a login of its own.",
	},
	"expired": {
		Cause: "The session had come to its end (sessions.ttl, 30 minutes after the login at most).",
		Cure:  "The client logs in again; it does well to do so by itself at each 401.",
	},
	"key_revoked": {
		Cause: "The api_key of the session, or the hash that it was opened by, is no longer in the configuration.",
		Cure:  "If that was not meant, put it back; the audit lines of the log tell when it went. Else hand out the new api_key, and the client logs in with it.",
	},
	"key_expired": {
		Cause: "The api_key of the session, or the hash that it was opened by, has ended (expires): its last day has passed, or frontdesk key revoke ended it.",
		Cure:  "frontdesk key list shows when. If that was not meant, give it a later end; else hand out a new api_key (frontdesk key rotate, or key new).",
	},
	"user_blocked": {
		Cause: "The user is blocked (frontdesk user block).",
		Cure:  "If that was not meant, frontdesk user unblock, and the client logs in again.",
	},
	"ended": {
		Cause: "Somebody ended that session (frontdesk sessions end); that command has written who did, as a line of the audit log.",
		Cure:  "The client logs in again, unless its user or its api_key was ended too.",
	},
	"new_password": {
		Cause: "The user was given another password after that session was opened, which ends his sessions.",
		Cure:  "The client logs in with the new password.",
	},

	// Of a login.
	"wrong_password": {
		Cause: "The password is not that of the user. Of a service that only says no, it may be that there is no such user.",
		Cure:  "Have the client look at the password that it is set up with: it may have been changed. frontdesk user passwd, or POST /authenticate/forgotpassword, gives another one.",
	},
	"unknown_user": {
		Cause: "There is no user of that name. The name is in no log: people type their password there.",
		Cure:  "Have the client look at the username that it is set up with; frontdesk user list shows which there are.",
	},
	"user_unusable": {
		Cause: "What the administration keeps of the user cannot be read, a password in a form that nobody knows for one.",
		Cure:  "Have the user given another password there; frontdesk user passwd does it where the users are ours.",
	},
	"key_unknown": {
		Cause: "No api_key of the configuration is the one that was sent.",
		Cure:  "Have the client look at the api_key that it is set up with, and at which installation it asks; the audit lines of the log tell of api_keys that were taken out.",
	},
	"key_malformed": {
		Cause: "What was sent as api_key has not the form of one.",
		Cure:  "Have the client send the api_key just as it was handed out, once, without quotes or blanks.",
	},

	// Of where a request comes from.
	"address": {
		Cause: "The api_key may not be used from that address (addresses).",
		Cure:  "If the address is the client's, add it to addresses of the key. If it is your own proxy's, server.trusted_proxies has to name the proxy.",
	},
	"certificate": {
		Cause: "The connection showed none of the client certificates that the api_key is bound to (client_certificates), or one that has ended.",
		Cure:  "Have the client show its certificate; if it has a new one, add its fingerprint to client_certificates of the key.",
	},

	// Of limits.
	"rate": {
		Cause: "The client had used up what the api_key gives each of its clients (rate).",
		Cure:  "The client waits as long as Retry-After says. If it needs more, raise rate of the key.",
	},
	"concurrent": {
		Cause: "As many requests of the client with this api_key were under way as there may be at once (concurrent).",
		Cure:  "The client sends fewer at once. If they take long, find out why: the first page of the operators' listener shows which are slow.",
	},
	"per_day": {
		Cause: "The client had used up its requests of the day with this api_key (per_day).",
		Cure:  "The client waits for the next day. If it needs more, raise per_day of the key.",
	},
	"space": {
		Cause: "The results of the client's callbacks take all the room that it may have.",
		Cure:  "The client fetches its results, and room is free again.",
	},
}

// help explains why a request was answered as it was, and what to do about it.
func (l *Line) help() mapping.Help {
	path, rest, ofRecord := strings.Cut(l.Endpoint, "/{") // of the template
	grant := l.Method + " " + path
	example := grant
	if _, more, _ := strings.Cut(rest, "}"); ofRecord {
		example += "/1" + more
	}
	switch help := mapping.HelpFor(mapping.Reason(l.Reason)); {
	case l.Status < 400:
		return mapping.Help{Cause: "Nothing was wrong with it."}
	case l.Cause != "":
		known, ok := causeHelp[l.Cause]
		if !ok {
			known = mapping.Help{Cause: "The log says " + l.Cause + ", which this version of frontdesk does not know.", Cure: help.Cure}
		}
		return known
	case len(l.Lacks) > 0:
		return mapping.Help{
			Cause: fmt.Sprintf("The allowlist of %s does not grant %s, which arrays of the request need.", l.Key, strings.Join(l.Lacks, ", ")),
			Cure:  "If it is to be granted, add it to allow of the key.",
		}
	case l.Endpoint != "" && (l.Reason == string(mapping.EndpointUnknown) || l.Reason == string(mapping.MethodUnsupported)):
		return mapping.Help{
			Cause: "There is that operation, but the allowlist of " + l.Key + " does not grant it.",
			Cure:  fmt.Sprintf("If it is to be granted, add %q to allow of the key; frontdesk explain --config FILE --key %s '%s' shows what stands there.", grant, l.Key, example),
		}
	default:
		help.Cause = cmp.Or(help.Cause, "The log says "+cmp.Or(l.Reason, "no reason")+", which this version of frontdesk does not know.")
		return help
	}
}
