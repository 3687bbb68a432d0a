package simulation

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/rig"
)

// guard ends sessions and api_keys, and tries them again: they stay ended.
type guard struct {
	*asking
	count int
	dead  []string // tokens
	keys  []string // that have ended
}

func (c *guard) work(ctx context.Context) {
	for ; ctx.Err() == nil; sleep(ctx, time.Duration(c.random.Int64N(int64(2*time.Second)))) {
		switch c.random.IntN(4) {
		case 0:
			c.logOut()
		case 1:
			c.endKey()
		default:
			c.stays()
		}
	}
}

func (c *guard) logOut() {
	if c.token == "" && !c.logIn() {
		return
	}
	token := c.token
	if _, known := c.want([]int{200}, "GET", "/authenticate/logout", ""); known && c.token == token {
		c.dead = append(c.dead, token)
	}
	c.token = ""
}

// endKey has an api_key come, be used, and end.
func (c *guard) endKey() {
	c.count++
	key := fmt.Sprintf("%08d-0000-4000-8000-000000000000", c.count)
	text := fmt.Sprintf("  - name: key%d\n    key_sha256: [\"%x\"]\n    allow: [\"GET /contact\"]\n", c.count, sha256.Sum256([]byte(key)))
	began := time.Now()
	c.write(func() { c.world.keys += text })
	time.Sleep(2 * time.Second)
	a, known := c.send("GET", rig.LoginPath(key, "demo", "demo"), "", "")
	var token string
	if known && a.Status == 200 {
		var body struct{ Token string }
		c.read(a, &body)
		token = body.Token
		if a, known := c.send("GET", "/contact?page_size=1", token, ""); known && a.Status != 200 && !c.excused(began, "guard") {
			c.fault("%s: a new api_key was answered %d: %s", c.name, a.Status, a.Body)
		}
	} else if !c.excused(began, "guard") {
		c.fault("%s: a new api_key is not known after two seconds: %d %s", c.name, a.Status, a.Body)
	}
	alive := c.narrows(text, token)
	began = time.Now()
	ended := alive + fmt.Sprintf("    expires: %s\n", began.Add(-time.Second).UTC().Format(time.RFC3339))
	c.write(func() { c.world.keys = strings.Replace(c.world.keys, alive, ended, 1) })
	time.Sleep(2 * time.Second)
	if c.excused(began, "guard") { // the files may not have been read
		c.write(func() { c.world.keys = strings.Replace(c.world.keys, ended, "", 1) })
		return
	}
	c.keys = append(c.keys, key)
	c.write(func() { c.world.keys = strings.Replace(c.world.keys, ended, alive, 1) }) // the file of before
	time.Sleep(2 * time.Second)
	c.isOut(key)
	c.write(func() { c.world.keys = strings.Replace(c.world.keys, alive, ended, 1) })
	if token != "" {
		c.dead = append(c.dead, token)
	}
}

// narrows takes a right away from an api_key, and returns how it is written then.
func (c *guard) narrows(text, token string) string {
	began, less := time.Now(), strings.Replace(text, "GET /contact", "POST /contact", 1)
	c.write(func() { c.world.keys = strings.Replace(c.world.keys, text, less, 1) })
	time.Sleep(2 * time.Second)
	if a, known := c.send("GET", "/contact?page_size=1", token, ""); token != "" && known && a.Status != 400 && !c.excused(began, "guard") {
		c.fault("%s: what its api_key may do no more is answered %d: %s", c.name, a.Status, a.Body)
	}
	return less
}

// stays tries something that has ended.
func (c *guard) stays() {
	if len(c.dead) > 0 {
		if a, known := c.send("GET", "/contact?page_size=1", c.dead[c.random.IntN(len(c.dead))], ""); known && a.Status != 401 {
			c.fault("%s: a session that was ended is answered %d: %s", c.name, a.Status, a.Body)
		}
	}
	if len(c.keys) > 0 {
		c.isOut(c.keys[c.random.IntN(len(c.keys))])
	}
}

func (c *guard) isOut(key string) {
	if a, known := c.send("GET", rig.LoginPath(key, "demo", "demo"), "", ""); known && a.Status != 401 {
		c.fault("%s: an api_key that has ended is answered %d: %s", c.name, a.Status, a.Body)
	}
}

func (c *guard) check() {
	for range 5 {
		c.stays()
	}
}
