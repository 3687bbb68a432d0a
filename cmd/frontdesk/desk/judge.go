package desk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"frontdesk/auth"
	"frontdesk/auth/redis"
	"frontdesk/backend/sqlrecord"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway/webhook"
)

// Judged reads a configuration, and finds everything that would keep it from being served: mistakes in
// the text, and files and folders that cannot be used. It creates nothing, locks nothing and connects to
// nothing. With elsewhere it does not look at files and folders of this machine, since another one will serve.
func Judged(file string, elsewhere bool) (*config.Config, error) {
	return judgedBy(newLoader(file), elsewhere)
}

func judgedBy(loader *config.Loader, elsewhere bool) (*config.Config, error) {
	c, problems, err := draftBy(loader)
	if err != nil {
		return nil, err
	}
	return judgedFully(c, problems, elsewhere)
}

// judgedFully is Judged for a configuration that has been read, or its draft.
func judgedFully(c *config.Config, problems strictyaml.Problems, elsewhere bool) (*config.Config, error) {
	j := judge{Config: c, problems: problems, elsewhere: elsewhere}
	j.parts()
	j.problems = append(j.problems, judgeSecrets(c)...)
	j.problems = append(j.problems, judgeRightsOf(c)...)
	if len(j.problems) == 0 {
		return c, nil
	}
	j.problems.Sort()
	return nil, j.problems
}

// judge checks the machine with the functions that Build uses, but opens nothing.
type judge struct {
	*config.Config
	problems  strictyaml.Problems
	elsewhere bool // the configuration is for another machine
}

func (j *judge) fail(setting, rule string, err error) {
	if err == nil {
		return
	}
	j.problems = append(j.problems, j.Problem(setting, rule, "%s", strings.ReplaceAll(located(err).Error(), "\n", "; ")))
}

// failHere is fail for problems that only the serving machine can have.
func (j *judge) failHere(setting, rule string, err error) {
	if !j.elsewhere {
		j.fail(setting, rule, err)
	}
}

// said reports whether a setting, or a part of it, has a problem already. Its value is then not the
// one that the file has.
func (j *judge) faulty(setting string) bool {
	file := j.Files()[0]
	for _, p := range j.problems {
		if p.File == file && (p.Path == "" || within(p.Path, setting) || within(setting, p.Path)) {
			return true
		}
	}
	return false
}

// parts judges the settings by the part of the program that uses them.
func (j *judge) parts() {
	if files := j.Server.TLS; files.Enabled() && !j.faulty("server.tls") {
		_, setting, err := readCertificates(files)
		j.failHere(setting, config.RuleTLSFiles, err)
	}
	if file := j.Webhooks.CAFile; file != "" && !j.faulty("webhooks.ca_file") {
		_, err := webhook.Roots(file)
		j.failHere("webhooks.ca_file", config.RuleCAFile, err)
	}
	if file := j.Ops.Socket; file != "" && !j.faulty("ops.socket") {
		j.failHere("ops.socket", config.RuleFolder, canBind(file))
	}
	j.sessions()
	j.links()
	j.mail()
	j.storage()
}

func (j *judge) sessions() {
	if j.Sessions.Store == config.MemoryStore || j.faulty("sessions") {
		return
	}
	options := redis.Options{URL: string(j.Sessions.Store)}
	if err := options.Judge(); err != nil {
		j.fail("sessions.store", config.RuleRedis, err)
		return
	}
	options.CAFile = j.Sessions.CAFile
	j.failHere("sessions.ca_file", config.RuleCAFile, options.Judge())
}

// links judges the address that links in mails begin with.
func (j *judge) links() {
	if j.faulty("server.listen") || j.faulty("server.public_url") || j.faulty("server.base_path") {
		return
	}
	err := auth.JudgeBase(j.Server.BaseURL())
	if j.Server.PublicURL != "" {
		j.fail("server.public_url", config.RulePublicURL, err)
	} else if err != nil {
		j.fail("server.listen", config.RuleAddress, fmt.Errorf("%w; server.public_url says how clients reach it", err))
	}
}

func (j *judge) mail() {
	if j.faulty("mail") {
		return
	}
	if err := auth.JudgeSender(j.Mail.From); err != nil {
		j.fail("mail.from", config.RuleMailFrom, err)
		return
	}
	if j.Mail.SMTP == "" {
		j.failHere("mail.folder", config.RuleFolder, canMake(j.Mail.Folder))
		return
	}
	_, err := newMailer(j.Mail) // does not connect
	j.fail("mail.smtp", config.RuleSMTP, err)
}

// storage judges the database of the built-in administration, or the gateway's own for a mapped
// system, and the folder of the results of callbacks.
func (j *judge) storage() {
	if j.faulty("backend.driver") || j.faulty("model.dir") {
		return
	}
	setting, judge := "backend.dsn", j.records
	if j.Backend.BySheet() {
		setting, judge = "backend.sheet", j.mappedSystem
	}
	if file, ok := judge(); ok && file != "" {
		j.failHere(setting, config.RuleFolder, cmp.Or(canMake(ResultsFolder(file)), webhook.JudgeFolder(Absolute(ResultsFolder(file)))))
	}
}

// records judges the database that backend.dsn names. file is "" for PostgreSQL.
func (j *judge) records() (file string, ok bool) {
	if j.faulty("backend.dsn") {
		return "", false
	}
	if file = DatabaseFileOf(j.Config); file != "" {
		return file, j.database("backend.dsn", file)
	}
	return "", j.postgres("backend.dsn", string(j.Backend.DSN))
}

// postgres judges a DSN, and the files that it names.
func (j *judge) postgres(setting, dsn string) bool {
	err := sqlrecord.JudgePostgres(dsn)
	if _, ofFile := errors.AsType[*fs.PathError](err); ofFile {
		j.failHere(setting, config.RuleCAFile, err)
	} else {
		j.fail(setting, config.RuleDSN, err)
	}
	return err == nil
}

// mappedSystem judges whether the driver can do what a sheet wants, and the gateway's own database. The
// loader has judged the sheet itself.
func (j *judge) mappedSystem() (file string, ok bool) {
	sh, err := sheetOf(j.Config)
	if j.faulty("backend.sheet") || err != nil {
		return "", false
	}
	j.fail("backend.sheet", config.RuleModelOrSheet, drivers()[j.Backend.Driver].judge(sh))
	if config.IsPostgres(sh.Keep) {
		return "", j.postgres("backend.sheet", sh.Keep)
	}
	if file, err = ownFile(sh); err != nil {
		j.failHere("backend.sheet", config.RuleFolder, err)
		return "", false
	}
	return file, j.database("backend.sheet", file)
}

// database judges a SQLite file, the files that SQLite makes beside it, and the gateway's lock file.
func (j *judge) database(setting, file string) bool {
	err := cmp.Or(wasThere(file), sqlrecord.JudgeSQLite(file), canWrite(file), canWrite(file+"-wal"), canWrite(file+"-shm"), canWrite(lockOf(file)))
	j.failHere(setting, config.RuleFolder, err)
	return err == nil
}

// judgeSecrets finds secrets that cannot sign callbacks.
func judgeSecrets(c *config.Config) (problems strictyaml.Problems) {
	for i := range c.APIKeys {
		key := &c.APIKeys[i]
		for j, secret := range key.WebhookSecret {
			if secret == "" {
				continue // the loader has reported it
			}
			if _, err := webhook.ParseSecret(string(secret)); err != nil {
				problems = append(problems, strictyaml.Problem{
					File: key.At().File, Line: key.At().Line, Column: 1, Path: fmt.Sprintf("webhook_secret[%d] of %s", j, key.Name),
					Message: err.Error(), Rule: config.RuleWebhookSecret,
				})
			}
		}
	}
	return problems
}

// within reports whether a path is the one given, or leads to a part of it.
func within(path, of string) bool { return path == of || strings.HasPrefix(path, of+".") }
