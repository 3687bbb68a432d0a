-- Counts a request of a client against all bounds of an api_key, or against none where one
-- has no room: package auth's MemoryLimits in the server. Times are microseconds. With
-- further, counts the further cost of a request, whether there is room or not.
-- Answers the bound that refuses (0: none) and the wait, and then of each bound
-- what is left and when there is more.

local now = tonumber(ARGV[1])
local perSecond, burst = tonumber(ARGV[2]), tonumber(ARGV[3])
local concurrent, perDay, further = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[10])
local cost = math.max(further, 1)
if further > 0 then concurrent = 0 end -- the request has its slot already
local RATE, CONCURRENT, DAY = 1, 2, 3
local slotWait = 1000000
local rounding = 1e-6 -- how far from a whole token sums of parts of it may end up
local longest = 3e15

local left, more = {0, 0, 0}, {0, 0, 0}
local refused, wait = 0, 0

local function find(bound, l, m)
  left[bound], more[bound] = math.max(l, 0), m
  if l > 0 or further ~= 0 then return end
  local w = m
  if bound == CONCURRENT then w = slotWait end
  if w > wait then refused, wait = bound, w end
end

-- How long a bucket is assumed to be used under several rates at once, by gateways of which
-- not all have reloaded yet. Meanwhile the slowest rate gives tokens back, and a small burst
-- does not cut off what a larger one has allowed.
local differ = 60e6

-- A bucket stores what was taken from it and not what is left: so it means the same
-- under another rate. widest is the largest burst of the requests within differ.
local function bucket()
  local was = redis.call('HMGET', KEYS[RATE], 'per_second', 'used', 'at', 'widest', 'widest_at')
  local b = {used = tonumber(was[2]) or 0, at = tonumber(was[3]) or now}
  local oldRate = tonumber(was[1]) or perSecond
  b.widest, b.widestAt = tonumber(was[4]) or burst, tonumber(was[5]) or now
  if now > b.at then -- a request that began earlier can come later
    local rate = oldRate
    if now - b.at <= differ then rate = math.min(rate, perSecond) end
    b.used, b.at = math.max(0, b.used - (now - b.at) / 1e6 * rate), now
  end
  local past = now - b.widestAt > differ
  b.changed = oldRate ~= perSecond
  if burst >= b.widest or past then
    b.changed = b.changed or burst ~= b.widest or now - b.widestAt > differ / 4
    if burst < b.widest then b.used = math.min(b.used, burst) end -- what the larger burst allowed is no debt
    b.widest, b.widestAt = burst, now
  end
  return b
end

local function room(b)
  if b.used < rounding then return burst, 0 end
  local tokens = burst - b.used
  local l = math.max(math.floor(tokens + rounding), 0)
  return l, math.min(math.max(math.ceil((l + 1 - tokens) / perSecond * 1e6), 1), longest)
end

local function keep(b)
  redis.call('HSET', KEYS[RATE], 'per_second', perSecond, 'used', b.used, 'at', b.at, 'widest', b.widest, 'widest_at', b.widestAt)
  redis.call('PEXPIRE', KEYS[RATE], math.min(math.max(math.ceil(b.used / perSecond * 1000), differ / 1000) + 1000, longest / 1000))
end

local b
if perSecond > 0 then
  b = bucket()
  find(RATE, room(b))
end

if concurrent > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[CONCURRENT], '-inf', now)
  find(CONCURRENT, concurrent - redis.call('ZCARD', KEYS[CONCURRENT]), 0)
end

local today, count = tonumber(ARGV[6]), 0
if perDay > 0 then
  local was = redis.call('HMGET', KEYS[DAY], 'day', 'count')
  local day = tonumber(was[1])
  -- A request that began before midnight counts for the day that has begun since.
  if day and today <= day and today >= day - 1 then
    today, count = day, tonumber(was[2])
  end
  find(DAY, perDay - count, tonumber(ARGV[7]))
end

if b then
  if refused == 0 then
    b.used = b.used + cost
    left[RATE], more[RATE] = room(b)
  end
  if refused == 0 or b.changed then keep(b) end
end
if refused == 0 then
  if concurrent > 0 then
    local lease = tonumber(ARGV[9])
    redis.call('ZADD', KEYS[CONCURRENT], now + lease, ARGV[8])
    redis.call('PEXPIRE', KEYS[CONCURRENT], math.ceil(lease / 1000))
    left[CONCURRENT] = left[CONCURRENT] - 1
  end
  if perDay > 0 then
    redis.call('HSET', KEYS[DAY], 'day', today, 'count', count + cost)
    redis.call('PEXPIRE', KEYS[DAY], math.ceil(tonumber(ARGV[7]) / 1000) + 2 * 86400000)
    left[DAY] = math.max(left[DAY] - cost, 0)
  end
end

return {refused, wait, left[RATE], more[RATE], left[CONCURRENT], more[CONCURRENT], left[DAY], more[DAY]}
