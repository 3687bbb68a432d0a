-- Counts a request against all bounds of an api_key, or against none where one has
-- no room: package auth's MemoryLimits in the server. Times are microseconds.
-- Answers the bound that refuses (0: none) and the wait, and then of each bound
-- what is left and when there is more.

local now = tonumber(ARGV[1])
local concurrent, perDay = tonumber(ARGV[6]), tonumber(ARGV[7])
local RATE, CLIENT, CONCURRENT, DAY = 1, 2, 3, 4
local slotWait = 1000000
local rounding = 1e-6 -- how far from a whole token sums of parts of it may end up
local longest = 3e15

local left, more = {0, 0, 0, 0}, {0, 0, 0, 0}
local refused, wait = 0, 0

local function find(bound, l, m)
  left[bound], more[bound] = math.max(l, 0), m
  if l > 0 then return end
  local w = m
  if bound == CONCURRENT then w = slotWait end
  if w > wait then refused, wait = bound, w end
end

-- A bucket is told by what was taken from it and not by what is left: so it means
-- the same under another rate.
local function bucket(key, perSecond, burst)
  local was = redis.call('HMGET', key, 'per_second', 'burst', 'used', 'at')
  local b = {key = key, perSecond = perSecond, burst = burst, used = tonumber(was[3]) or 0, at = tonumber(was[4]) or now}
  local oldRate, oldBurst = tonumber(was[1]) or perSecond, tonumber(was[2]) or burst
  if now > b.at then -- a request that began earlier can come later
    b.used, b.at = math.max(0, b.used - (now - b.at) / 1e6 * oldRate), now
  end
  if oldRate ~= perSecond or oldBurst ~= burst then
    b.used, b.changed = math.min(b.used, burst), true
  end
  return b
end

local function room(b)
  if b.used < rounding then return b.burst, 0 end
  local tokens = b.burst - b.used
  local l = math.floor(tokens + rounding)
  return l, math.min(math.max(math.ceil((l + 1 - tokens) / b.perSecond * 1e6), 1), longest)
end

local function keep(b)
  redis.call('HSET', b.key, 'per_second', b.perSecond, 'burst', b.burst, 'used', b.used, 'at', b.at)
  redis.call('PEXPIRE', b.key, math.min(math.ceil(b.used / b.perSecond * 1000) + 1000, longest / 1000))
end

local buckets = {}
for bound = RATE, CLIENT do
  local perSecond, burst = tonumber(ARGV[2 * bound]), tonumber(ARGV[2 * bound + 1])
  if perSecond > 0 then
    buckets[bound] = bucket(KEYS[bound], perSecond, burst)
    find(bound, room(buckets[bound]))
  end
end

if concurrent > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[CONCURRENT], '-inf', now)
  find(CONCURRENT, concurrent - redis.call('ZCARD', KEYS[CONCURRENT]), 0)
end

local today, count = tonumber(ARGV[8]), 0
if perDay > 0 then
  local was = redis.call('HMGET', KEYS[DAY], 'day', 'count')
  local day = tonumber(was[1])
  -- A request that began before midnight counts for the day that has begun since.
  if day and today <= day and today >= day - 1 then
    today, count = day, tonumber(was[2])
  end
  find(DAY, perDay - count, tonumber(ARGV[9]))
end

for _, b in pairs(buckets) do
  if refused == 0 then b.used = b.used + 1 end
  if refused == 0 or b.changed then keep(b) end
end
if refused == 0 then
  for bound, b in pairs(buckets) do left[bound], more[bound] = room(b) end
  if concurrent > 0 then
    local lease = tonumber(ARGV[11])
    redis.call('ZADD', KEYS[CONCURRENT], now + lease, ARGV[10])
    redis.call('PEXPIRE', KEYS[CONCURRENT], math.ceil(lease / 1000))
    left[CONCURRENT] = left[CONCURRENT] - 1
  end
  if perDay > 0 then
    redis.call('HSET', KEYS[DAY], 'day', today, 'count', count + 1)
    redis.call('PEXPIRE', KEYS[DAY], math.ceil(tonumber(ARGV[9]) / 1000) + 2 * 86400000)
    left[DAY] = left[DAY] - 1
  end
end

local answer = {refused, wait}
for bound = RATE, DAY do
  table.insert(answer, left[bound])
  table.insert(answer, more[bound])
end
return answer
