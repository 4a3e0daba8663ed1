-- Starts an attempt of a run and issues its fence, or says why not.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  open runs
-- KEYS[4]  watch list
-- KEYS[5]  pending runs
-- KEYS[6]  effects of the run
-- ARGV[1]  run id
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  worker
-- ARGV[4]  length of the run lease, ms
-- ARGV[5]  attempts allowed
-- ARGV[6]  keep a finished run for, ms
-- Returns  {'BEGUN', fence, attempt, record} | {'BUSY', ms} | {'NOT_DUE', ms} | {'TERMINAL', state} | {'MISSING'}
--          | {'FENCE_EXHAUSTED'}
--
-- The fence increases over all runs of the cron, so that a sink keyed by anything can order the writes it gets.
local run = redis.call('HMGET', KEYS[2], 'state', 'nonce', 'fence', 'attempt', 'leaseUntil', 'leaseMs', 'notBefore',
  'overlap')
local state = run[1]
if not state then return { 'MISSING' } end
if state == 'running' and run[2] == ARGV[2] then
  return { 'BEGUN', run[3], run[4], redis.call('HGETALL', KEYS[2]) }
end
if state == 'succeeded' or state == 'failed' or state == 'skipped' then return { 'TERMINAL', state } end
-- @include server-time
local lease_until = string.format('%.0f', now + tonumber(ARGV[4]))
if state == 'running' then
  local left, asked = tonumber(run[5]) - now, tonumber(run[6])
  -- More than was ever asked for was left by a clock that went back. The attempt's own length is the measure: a worker
  -- with a shorter one must not cut a healthy lease.
  if left > asked * 2 then
    left = asked
    local cut = string.format('%.0f', now + asked)
    redis.call('HSET', KEYS[2], 'leaseUntil', cut)
    redis.call('ZADD', KEYS[3], cut, ARGV[1])
    redis.call('ZADD', KEYS[4], cut, ARGV[1])
  end
  if left > 0 then return { 'BUSY', string.format('%.0f', left) } end
end
local wait = tonumber(run[7] or '0') - now
if wait > 0 then return { 'NOT_DUE', string.format('%.0f', wait) } end
if tonumber(run[4]) >= tonumber(ARGV[5]) then
  redis.call('HSET', KEYS[2], 'state', 'failed', 'error', 'every attempt is used up; the last one never reported',
    'finishedAt', string.format('%.0f', now))
  redis.call('ZREM', KEYS[3], ARGV[1])
  redis.call('ZREM', KEYS[4], ARGV[1])
  redis.call('ZREM', KEYS[5], ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
  redis.call('PEXPIRE', KEYS[6], ARGV[6])
  return { 'TERMINAL', 'failed' }
end
if run[8] == 'skip' then
  local rival = redis.call('ZRANGEBYSCORE', KEYS[3], string.format('(%.0f', now), '(+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if rival[1] then return { 'BUSY', string.format('%.0f', tonumber(rival[2]) - now) } end
end
local last = tonumber(redis.call('HGET', KEYS[1], 'runFence') or '0')
local micros = tonumber(server_time[1]) * 1000000 + tonumber(server_time[2])
local next_fence = math.max(last + 1, micros)
if next_fence > 9007199254740991 then return { 'FENCE_EXHAUSTED' } end

local fence = string.format('%.0f', next_fence)
local started = string.format('%.0f', now)
redis.call('HSET', KEYS[1], 'runFence', fence)
redis.call('HSETNX', KEYS[2], 'startedAt', started)
redis.call('HINCRBY', KEYS[2], 'attempt', 1)
redis.call('HSET', KEYS[2], 'state', 'running', 'nonce', ARGV[2], 'fence', fence, 'worker', ARGV[3],
  'attemptedAt', started, 'leaseUntil', lease_until, 'leaseMs', ARGV[4])
redis.call('ZADD', KEYS[3], lease_until, ARGV[1])
redis.call('ZADD', KEYS[4], lease_until, ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[1])
return { 'BEGUN', fence, redis.call('HGET', KEYS[2], 'attempt'), redis.call('HGETALL', KEYS[2]) }
