-- Records what a pod says of itself, and that its revision is live; returns the store's clock.
--
-- KEYS[1]  cards, by pod
-- KEYS[2]  pods, by last report
-- KEYS[3]  states, by pod
-- KEYS[4]  pods with a state, by last report
-- KEYS[5]  revisions, by last report of a pod that declares them
-- KEYS[6]  registry: when it began, how often its pods have changed, its last report, and when it was tidied
-- ARGV[1]  pod
-- ARGV[2]  its state: a line with the revision that it declares, which may be empty, and what changes between reports
-- ARGV[3]  size of its card, bytes
-- ARGV[4]  its card, or '' if the store should have it; it has the revision, so a report without it declares the same
-- ARGV[5]  gone after, ms
-- ARGV[6]  between two times that the registry is tidied, ms
-- ARGV[7]  revisions are kept for, ms
-- ARGV[8]  revisions are kept, at most
-- Returns  now in microseconds, number of changes, whether the card was known; if it wasn't, nothing is recorded
--
-- A former build knows cards and last reports only, reads the whole pod from its card, and removes pods that are gone from
-- these two keys alone. So the pods of this build are kept once more, where only this build removes them.
-- @include lease/server-time
local micros = string.format('%.0f', tonumber(server_time[1]) * 1000000 + tonumber(server_time[2]))
if ARGV[4] == '' and redis.call('HSTRLEN', KEYS[1], ARGV[1]) ~= tonumber(ARGV[3]) then
  return { micros, '0', '0' }
end

local at = string.format('%.0f', now)
local known = redis.call('HMGET', KEYS[6], 'born', 'change', 'reported', 'tidied')
-- A wiped registry must not count up to a number that a pod has seen before.
local born = known[1] or at
local change = tonumber(known[2] or at)
local before = change

-- A clock that went back would keep the dead among the living until it has caught up.
if known[3] and tonumber(known[3]) > now then
  born = string.format('%.0f', math.min(tonumber(born), now))
  for _, key in ipairs({ KEYS[2], KEYS[4], KEYS[5] }) do
    for _, later in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. at, '+inf')) do
      redis.call('ZADD', key, at, later)
    end
  end
end

local revision = string.match(ARGV[2], '^[^\n]*')
local isOther = false
if ARGV[4] ~= '' then
  -- Sent again when what it declares or executes has changed.
  isOther = redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[4]
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], at, ARGV[1])
local joined = redis.call('ZADD', KEYS[4], at, ARGV[1]) == 1
if joined or isOther then
  change = change + 1
end

-- Each report removes the pods that are gone: a killed pod can't, and the list would grow with every restart.
local latest = string.format('%.0f', now - tonumber(ARGV[5]))
local function removeGone(key)
  for _, pod in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', latest)) do
    redis.call('ZREM', KEYS[2], pod)
    redis.call('ZREM', KEYS[4], pod)
    redis.call('HDEL', KEYS[1], pod)
    redis.call('HDEL', KEYS[3], pod)
    change = change + 1
  end
end
removeGone(KEYS[4])

if revision ~= '' and redis.call('ZADD', KEYS[5], at, revision) == 1 then
  redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', string.format('%.0f', now - tonumber(ARGV[7])))
  redis.call('ZREMRANGEBYRANK', KEYS[5], 0, -1 - tonumber(ARGV[8]))
  redis.call('PEXPIRE', KEYS[5], ARGV[7])
end

-- For all pods together: the commands of a report are what a deployment with many pods costs. A pod that joins may have made
-- the keys anew.
local tidied = known[4] or '0'
if joined or now - tonumber(tidied) >= tonumber(ARGV[6]) or tonumber(tidied) > now then
  tidied = at
  removeGone(KEYS[2])
  -- No pod is left to remove the last one that is killed.
  for _, key in ipairs({ KEYS[1], KEYS[2], KEYS[3], KEYS[4] }) do
    redis.call('PEXPIRE', key, tonumber(ARGV[5]) + tonumber(ARGV[6]))
  end
  redis.call('PEXPIRE', KEYS[5], ARGV[7])
end
local changes = string.format('%.0f', change)
redis.call('HSET', KEYS[6], 'born', born, 'change', changes, 'reported', at, 'tidied', tidied)
if tidied == at or change ~= before then
  redis.call('PEXPIRE', KEYS[6], ARGV[7])
end
return { micros, changes, '1' }
