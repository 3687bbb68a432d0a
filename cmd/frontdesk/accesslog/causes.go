package accesslog

import (
	"cmp"
	"fmt"
	"strings"

	"frontdesk/mapping"
)

// causeHelp explains the causes of refusals in the access log to operators; clients do not
// see these causes. mapping.HelpFor explains the reasons.
var causeHelp = map[string]struct{ cause, cure string }{
	// Of a token.
	"none": {"The request had no token.",
		"GET /authenticate gives one, which goes into the header token of every further request."},
	"malformed": {"What the header token held is no token: it was cut, quoted, sent twice, or is something else.",
		"Have the client send the token just as GET /authenticate answered it, once."},
	"unknown": {"No session is known of that token: it was never given out, or ended more than half an hour before, or the gateway kept its sessions in memory and was restarted.",
		"The client logs in again. If it happens to many at once, look for a restart and at sessions.store."},
	"logged_out": {"Somebody had logged out of that session (GET /authenticate/logout).",
		"The client logs in again. Where several of its programs share a token, the first that logs out ends it for all: give each a login of its own."},
	"expired": {"The session had come to its end (sessions.ttl, 30 minutes after the login at most).",
		"The client logs in again; it does well to do so by itself at each 401."},
	"key_revoked": {"The api_key of the session, or the hash that it was opened by, is no longer in the configuration.",
		"If that was not meant, put it back; the audit lines of the log tell when it went. Else hand out the new api_key, and the client logs in with it."},
	"key_expired": {"The api_key of the session, or the hash that it was opened by, has ended (expires): its last day has passed, or frontdesk key revoke ended it.",
		"frontdesk key list shows when. If that was not meant, give it a later end; else hand out a new api_key (frontdesk key rotate, or key new)."},
	"user_blocked": {"The user is blocked (frontdesk user block).",
		"If that was not meant, frontdesk user unblock, and the client logs in again."},
	"ended": {"Somebody ended that session (frontdesk sessions end); that command has written who did, as a line of the audit log.",
		"The client logs in again, unless its user or its api_key was ended too."},
	"new_password": {"The user was given another password after that session was opened, which ends his sessions.",
		"The client logs in with the new password."},

	// Of a login.
	"wrong_password": {"The password is not that of the user. Of a service that only says no, it may be that there is no such user.",
		"Have the client look at the password that it is set up with: it may have been changed. frontdesk user passwd, or POST /authenticate/forgotpassword, gives another one."},
	"unknown_user": {"There is no user of that name. The name is in no log: people type their password there.",
		"Have the client look at the username that it is set up with; frontdesk user list shows which there are."},
	"user_unusable": {"What the administration keeps of the user cannot be read, a password in a form that nobody knows for one.",
		"Have the user given another password there; frontdesk user passwd does it where the users are ours."},
	"key_unknown": {"No api_key of the configuration is the one that was sent.",
		"Have the client look at the api_key that it is set up with, and at which installation it asks; the audit lines of the log tell of api_keys that were taken out."},
	"key_malformed": {"What was sent as api_key has not the form of one.",
		"Have the client send the api_key just as it was handed out, once, without quotes or blanks."},

	// Of where a request comes from.
	"address": {"The api_key may not be used from that address (addresses).",
		"If the address is the client's, add it to addresses of the key. If it is your own proxy's, server.trusted_proxies has to name the proxy."},
	"certificate": {"The connection showed none of the client certificates that the api_key is bound to (client_certificates), or one that has ended.",
		"Have the client show its certificate; if it has a new one, add its fingerprint to client_certificates of the key."},

	// Of limits.
	"rate": {"The client had used up what the api_key gives each of its clients (rate).",
		"The client waits as long as Retry-After says. If it needs more, raise rate of the key."},
	"concurrent": {"As many requests of the client with this api_key were under way as there may be at once (concurrent).",
		"The client sends fewer at once. If they take long, find out why: the first page of the operators' listener shows which are slow."},
	"per_day": {"The client had used up its requests of the day with this api_key (per_day).",
		"The client waits for the next day. If it needs more, raise per_day of the key."},
	"space": {"The results of the client's callbacks take all the room that it may have.",
		"The client fetches its results, and room is free again."},
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
		if known, ok := causeHelp[l.Cause]; ok {
			return mapping.Help{Cause: known.cause, Cure: known.cure}
		}
		return mapping.Help{Cause: "The log says " + l.Cause + ", which this version of frontdesk does not know.", Cure: help.Cure}
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
