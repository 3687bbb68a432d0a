package rows

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// rightOthers are requests of the operations that are none of a record's which
// are answered as they should be.
var rightOthers = map[string]func(*setting, request) request{
	"authenticate": func(_ *setting, r request) request {
		r.path, r.token = rig.LoginPath(rig.FullKey, "demo", "demo"), ""
		r.path, r.query, _ = strings.Cut(r.path, "?")
		return r
	},
	"getAccess": asItIs, "listComponents": asItIs, "listModules": asItIs, "getFingerprint": asItIs,
	"logout": func(s *setting, r request) request {
		r.token = s.Login(rig.FullKey, "demo")
		return r
	},
	"forgotPassword": func(_ *setting, r request) request {
		r.body = `{"username":"nobody"}`
		return r
	},
	"getEnvironment":   func(_ *setting, r request) request { return r.and("username=demo") },
	"getEmployeeEmail": func(_ *setting, r request) request { return r.and("username=demo") },
	"getModel": func(_ *setting, r request) request {
		r.path = "/model/contact"
		return r
	},
	"getDocumentInfo": func(s *setting, r request) request {
		return r.and(fmt.Sprintf("id=%d", s.Post("document", `{"name":"a","resource":"contact","resource_id":1,"external_url":"https://files.example.nl/a"}`)))
	},
	"checkAddress":        func(_ *setting, r request) request { return r.and("Postcode=3511%20EV&CountryId=528") },
	"checkPublishVehicle": ofVehicle, "publishVehicle": ofVehicle, "unpublishVehicle": ofVehicle,
	"updateLicensePlate": newPlate, "changeLicensePlate": newPlate,
	"backupOwner": func(_ *setting, r request) request {
		r.body = `{"webhook_url":"https://receiver.invalid/done"}`
		return r
	},
	"getWebhookResult": func(s *setting, r request) request { return r.and("id=" + s.backedUp()) },
	"downloadResult": func(s *setting, r request) request {
		a := s.Call("GET", "/webhook?id="+s.backedUp(), s.Token, "")
		address, err := url.Parse(a.Data(s.T)["url"].(string))
		require.NoError(s.T, err)
		r.query, r.token = address.RawQuery, ""
		return r
	},
}

func asItIs(_ *setting, r request) request { return r }

// ofVehicle is about a new vehicle, the newest of all, which can be published.
func ofVehicle(s *setting, r request) request {
	vehicle := s.Vehicle(`,"tax_kind":"vat"`)
	s.Post("vehicleadvertisementsite", `{"vehicle_id":%d,"advertisementsite_id":1}`, vehicle)
	return r.and(fmt.Sprintf("id=%d", vehicle))
}

func newPlate(s *setting, r request) request {
	r.body = fmt.Sprintf(`{"id":%d,"license_plate":"%s"}`, s.Vehicle(""), s.Plate())
	return r
}

// startBackup is the id of a backup that was begun.
func (s *setting) startBackup() string {
	s.T.Helper()
	a := s.Call("POST", "/backup/owner", s.Token, `{"webhook_url":"https://receiver.invalid/done"}`)
	require.Equal(s.T, 202, a.Status, "%s", a.Body)
	_, id, _ := strings.Cut(a.Header.Get("Location"), "id=")
	return id
}

// backedUp is the id of a backup that is done, the same each time.
func (s *setting) backedUp() string {
	s.T.Helper()
	if *s.Backup == "" {
		*s.Backup = s.startBackup()
		require.Eventually(s.T, func() bool {
			return s.Call("GET", "/webhook?id="+*s.Backup, s.Token, "").Status == 200
		}, rig.Patience, 20*time.Millisecond)
	}
	return *s.Backup
}

// otherAnswers are the answers that are no error, and not the one of a right
// request either.
var otherAnswers = map[string]func(*setting) request{
	"getWebhookResult 202": func(s *setting) request {
		release := make(chan struct{})
		s.Faults.Set(func(context.Context) error { <-release; return nil })
		s.T.Cleanup(func() { s.Faults.None(); close(release) })
		return request{method: "GET", path: "/webhook", query: "id=" + s.startBackup(), token: s.Token}
	},
	"downloadResult 206": part("bytes=0-9"),
	"downloadResult 416": part("bytes=999999999-"),
}

func part(of string) func(*setting) request {
	return func(s *setting) request {
		r := s.right()
		r.headers = []string{"Range", of}
		return r
	}
}

// otherWays are the errors of the operations that are none of a record's.
var otherWays = map[mapping.Reason]func(*setting) request{
	mapping.ParametersRequired: func(s *setting) request {
		r := s.right()
		r.query = ""
		return r
	},
	mapping.FieldNotInModel: func(s *setting) request {
		r := s.right()
		if r.body == "" {
			r.body = "{}"
		}
		r.body = strings.TrimSuffix(strings.Replace(r.body, "{", `{"colour":"red",`, 1), ",}")
		if !strings.HasSuffix(r.body, "}") {
			r.body += "}"
		}
		return r
	},
	mapping.PrimaryIDInvalid: withID("abc", `"one"`),
	mapping.RecordNotFound:   withID("999999", "999999"),
	mapping.PrimaryIDMissing: func(s *setting) request {
		r := s.right()
		if r.query, r.body = "", `{}`; strings.HasSuffix(s.op.Name, "LicensePlate") {
			r.body = `{"license_plate":"QQ-000-Q"}`
		}
		return r
	},
	mapping.SystemRecord:   newestVehicle("is_system"),
	mapping.BlockedRecord:  newestVehicle("is_blocked"),
	mapping.ArchivedRecord: newestVehicle("is_archived"),
	mapping.FieldRequired: func(s *setting) request {
		r := s.right()
		body := s.more(r.body, nil)
		maps.DeleteFunc(body, func(name string, _ any) bool { return name != "id" })
		r.body = asJSON(s.T, body)
		return r
	},
	mapping.FieldEmpty:       only(`""`),
	mapping.VarcharInvalid:   only("[1,2]"),
	mapping.VarcharTooLong:   only(`"https://` + letters(3000) + `"`),
	mapping.ValidationFailed: only(`"http://??"`),
	mapping.DuplicateValue: func(s *setting) request {
		taken := s.Plate()
		s.Post("vehicle", `{"license_plate":"%s","brand":"Opel","model":"Astra"}`, taken)
		r := s.right()
		r.body = asJSON(s.T, s.more(r.body, fields{"license_plate": taken}))
		return r
	},
}

// withID names another record, in the query or in the body.
func withID(inQuery, inBody string) func(*setting) request {
	return func(s *setting) request {
		r := s.right()
		if r.body != "" {
			r.body = asJSON(s.T, s.more(r.body, fields{"id": rawJSON(inBody)}))
		} else {
			r.query = "id=" + inQuery
		}
		return r
	}
}

// newestVehicle sets a flag of the vehicle that a right request is about.
func newestVehicle(flag string) func(*setting) request {
	return func(s *setting) request {
		r := s.right()
		s.Alter(`UPDATE vehicle SET %s = 1 WHERE id = (SELECT max(id) FROM vehicle)`, flag)
		return r
	}
}

// only gives the one text of a form this value.
func only(value string) func(*setting) request {
	return func(s *setting) request {
		r := s.right()
		for name := range s.more(r.body, nil) {
			if name != "id" {
				r.body = asJSON(s.T, s.more(r.body, fields{name: rawJSON(value)}))
			}
		}
		return r
	}
}

type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// ownWays are the errors that come about in a way of one operation's own.
var ownWays = map[string]func(*setting) rig.Answer{
	"authenticate not_logged_in": func(s *setting) rig.Answer { return s.Call("GET", "/authenticate", "", "", "token", "") },
	"authenticate token_invalid": func(s *setting) rig.Answer { return s.Call("GET", "/authenticate", s.Ended(), "") },
	"authenticate credentials_invalid": func(s *setting) rig.Answer {
		return s.Call("GET", rig.LoginPath(rig.FullKey, "nobody", "x"), "", "")
	},
	"authenticate too_many_requests": func(s *setting) rig.Answer { return tenWrongLogins(s.Practice)[0] },
	"getModel record_not_found":      func(s *setting) rig.Answer { return s.Call("GET", "/model/nothing", s.Token, "") },
	"getModel body_not_json": func(s *setting) rig.Answer {
		s.Faults.Describes(`{"name":`)
		return s.Call("GET", "/model/contact", s.Token, "")
	},
	"getEmployeeEmail record_not_found": func(s *setting) rig.Answer {
		return s.Call("GET", "/empoyee/email?username=nobody", s.Token, "")
	},
	"getEmployeeEmail varchar_invalid": func(s *setting) rig.Answer {
		return s.Call("GET", "/empoyee/email?username=%00", s.Token, "")
	},
	"downloadResult record_not_found": func(s *setting) rig.Answer {
		r := s.right()
		r.query = "id=unknown"
		return s.ask(r)
	},
	"authenticate backend_unavailable": lacking("app_user"),
	"authenticate backend_timeout":     usersLocked,
	"backupOwner internal_error":       lacking("callback_job"),
	"getWebhookResult internal_error":  lacking("callback_job"),
	"downloadResult internal_error":    lacking("callback_job"),
}

// lacking asks while the database lacks a table.
func lacking(table string) func(*setting) rig.Answer {
	return func(s *setting) rig.Answer {
		r := s.right()
		s.Alter("ALTER TABLE %s RENAME TO elsewhere", table)
		defer s.Alter("ALTER TABLE elsewhere RENAME TO %s", table)
		return s.ask(r)
	}
}

// usersLocked logs in to a desk whose table of users somebody holds on to.
func usersLocked(s *setting) rig.Answer {
	dsn := rig.Engines[1].DSN(s.T)
	d := rig.Start(s.T, rig.Options{DSN: dsn, Backend: ", timeout: 200ms"})
	ctx, cancel := context.WithTimeout(context.Background(), rig.Patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(s.T, err)
	defer conn.Close(ctx)
	tx, err := conn.Begin(ctx)
	require.NoError(s.T, err)
	_, err = tx.Exec(ctx, "LOCK TABLE app_user")
	require.NoError(s.T, err)
	return d.Call("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), "", "")
}
