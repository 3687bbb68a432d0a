package redis

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"frontdesk/auth"
)

var _ auth.GuessCounter = (*GuessCounter)(nil)

// guessLease is how long a guess counts if its gateway never settles it: longer than any
// login takes.
const guessLease = time.Minute

// GuessCounter counts wrong credentials for all gateways that share the server. Each
// address has two sorted sets: failures by their time, and pending guesses by the end of
// their lease. Both expire.
type GuessCounter struct{ client *Client }

// NewGuessCounter returns the counter in the server of a client. The caller closes the client.
func NewGuessCounter(client *Client) *GuessCounter { return &GuessCounter{client} }

// counting begins both scripts: it removes expired members, and counts. A member of either
// set is the digest of the username and a unique suffix.
const counting = `
local failures, guesses = KEYS[1], KEYS[2]
local who, id, now = ARGV[1], ARGV[2], tonumber(ARGV[3])
local window, perUser, perAddress = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
redis.call('ZREMRANGEBYSCORE', failures, '-inf', now - window)
redis.call('ZREMRANGEBYSCORE', guesses, '-inf', now)

local function times(set)
  local all, own = {}, {}
  local members = redis.call('ZRANGE', set, 0, -1, 'WITHSCORES')
  for i = 1, #members, 2 do
    local at = tonumber(members[i + 1])
    table.insert(all, at)
    if string.sub(members[i], 1, #who) == who then table.insert(own, at) end
  end
  return all, own
end

local function refused()
  local all, own = times(failures)
  local wait = 0
  if #all >= perAddress then wait = math.max(wait, all[#all - perAddress + 1] + window - now, 1) end
  if #own >= perUser then wait = math.max(wait, own[#own - perUser + 1] + window - now, 1) end
  return wait, #all, #own
end
`

// reserve answers whether the guess is admitted, and for how many microseconds it
// is refused.
var reserve = rueidis.NewLuaScript(counting + `
local wait, all, own = refused()
if wait > 0 then return {0, wait} end
local allGuesses, ownGuesses = times(guesses)
if own + #ownGuesses >= perUser or all + #allGuesses >= perAddress then return {0, 0} end
local lease = tonumber(ARGV[7])
redis.call('ZADD', guesses, now + lease, who .. id)
redis.call('PEXPIRE', guesses, math.ceil(lease / 1000))
return {1, 0}
`)

// settle answers the failures of the username, those of the address, and for how
// many microseconds the next guess is refused.
var settle = rueidis.NewLuaScript(counting + `
redis.call('ZREM', guesses, who .. id)
if ARGV[7] == 'failed' then
  redis.call('ZADD', failures, now, who .. id)
  redis.call('PEXPIRE', failures, math.ceil(window / 1000))
elseif ARGV[7] == 'succeeded' then
  for _, member in ipairs(redis.call('ZRANGE', failures, 0, -1)) do
    if string.sub(member, 1, #who) == who then redis.call('ZREM', failures, member) end
  end
end
local wait, all, own = refused()
return {own, all, wait}
`)

// Reserve implements auth.GuessCounter.
func (t *GuessCounter) Reserve(ctx context.Context, from auth.Origin, who auth.Account, now time.Time) (auth.Reservation, error) {
	r := auth.Reservation{From: from, Who: who, ID: rand.Text()}
	answer, err := t.run(ctx, reserve, r, now, strconv.FormatInt(guessLease.Microseconds(), 10))
	if err != nil {
		return r, err
	}
	r.Admitted, r.Refused = answer[0] == 1, micros(answer[1])
	return r, nil
}

// Settle implements auth.GuessCounter.
func (t *GuessCounter) Settle(ctx context.Context, r auth.Reservation, outcome auth.Outcome, now time.Time) (auth.GuessCount, error) {
	word := map[auth.Outcome]string{auth.Abandoned: "abandoned", auth.Failed: "failed", auth.Succeeded: "succeeded"}[outcome]
	answer, err := t.run(ctx, settle, r, now, word)
	if err != nil {
		return auth.GuessCount{}, err
	}
	return auth.GuessCount{OfUser: int(answer[0]), OfAddress: int(answer[1]), Refused: micros(answer[2])}, nil
}

// run runs a script on the sets of an address, which the braces keep together in a
// cluster.
func (t *GuessCounter) run(ctx context.Context, script *rueidis.Lua, r auth.Reservation, now time.Time, last string) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	address := "{" + string(r.From) + "}"
	answer, err := t.client.run(ctx, script, []string{namePrefix + "failures:" + address, namePrefix + "guesses:" + address}, []string{
		hex.EncodeToString(r.Who[:]), r.ID, strconv.FormatInt(now.UnixMicro(), 10), strconv.FormatInt(auth.GuessWindow.Microseconds(), 10),
		strconv.Itoa(auth.GuessesPerUser), strconv.Itoa(auth.GuessesPerAddress), last,
	}).AsIntSlice()
	return answer, failed(err)
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
