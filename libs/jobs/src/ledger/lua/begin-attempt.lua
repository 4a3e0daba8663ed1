-- Starts an attempt of a run and issues its fence, or says why not.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run; those of its predecessors are found beside it
-- KEYS[3]  open runs
-- KEYS[4]  watch list
-- KEYS[5]  pending runs
-- KEYS[6]  effects of the run
-- KEYS[7]  runs of the cron, by instant
-- ARGV[1]  run id
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  worker
-- ARGV[4]  length of the run lease, ms
-- ARGV[5]  attempts allowed
-- ARGV[6]  keep a finished run for, ms
-- ARGV[7]  ask again after, ms, while a run of the cron has to be waited for
-- Returns  {'BEGUN', fence, attempt, known, begun} | {'BUSY', ms} | {'NOT_DUE', ms} | {'TERMINAL', state} | {'MISSING'}
--          | {'FENCE_EXHAUSTED'}
--
-- The fence increases over all runs of the cron, so that a sink keyed by anything can order the writes it gets. The record
-- comes as values alone, what was known before the attempt and what is known by it; redis-run-record.ts has their names.
-- @include end-run
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local run = call('HMGET', KEYS[2], 'state', 'nonce', 'fence', 'attempt', 'leaseUntil', 'leaseMs', 'notBefore',
  'overlap', 'maxConcurrency', 'startBy', 'cancelUntil', 'scheduledAt', 'startedAt', 'id', 'dueAt', 'reason', 'missed',
  'generation', 'claimFence', 'claimedBy', 'claimedAt', 'enqueuedAt', 'delivery', 'error', 'by', 'payload', 'handler')
local state = run[1]
if not state then return { 'MISSING' } end
if state == 'running' and run[2] == ARGV[2] then
  local begun = call('HMGET', KEYS[2], 'startedAt', 'attemptedAt', 'worker', 'waiting', 'cancelAt', 'cancelBy')
  return { 'BEGUN', run[3], run[4], run, begun }
end
if over[state] then return { 'TERMINAL', state } end
-- @include server-time
local started = string.format('%.0f', now)
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

local sets = { KEYS[3], KEYS[4], KEYS[5] }
local function end_this(ending, ...)
  local keys = { run = KEYS[2], effects = KEYS[6], sets = sets }
  end_run(ARGV[1], keys, ARGV[6], 'state', ending, 'finishedAt', started, ...)
  return { 'TERMINAL', ending }
end
-- Told to stop, and nobody carries it out: it has stopped.
if (run[11] or '') ~= '' then return end_this('cancelled') end
if run[4] == '0' and now > (tonumber(run[10] or '') or now) then return end_this('skipped', 'skipped', 'misfire') end
local wait = tonumber(run[7] or '0') - now
if wait > 0 then return { 'NOT_DUE', string.format('%.0f', wait) } end
if tonumber(run[4]) >= tonumber(ARGV[5]) then
  return end_this('failed', 'error', 'every attempt is used up; the last one never reported')
end

local policy = run[8]
if policy ~= 'allow' then
  local function beside(key, id) return string.sub(key, 1, -#ARGV[1] - 1) .. id end
  local most, in_line = tonumber(run[9] or '') or 1, policy == 'queue-all'
  local soonest, alive, blocking = math.huge, 0, {}
  local last_score, rivals = in_line and '+inf' or '(+inf', {}
  -- Counting costs less than half of listing, and mostly there are none.
  if call('ZCOUNT', KEYS[3], '-inf', last_score) > 0 then
    rivals = call('ZRANGEBYSCORE', KEYS[3], '-inf', last_score, 'WITHSCORES')
  end
  for i = 1, #rivals, 2 do
    local id, until_when = rivals[i], rivals[i + 1] == 'inf' and math.huge or tonumber(rivals[i + 1])
    if until_when > now and id ~= ARGV[1] then blocking[#blocking + 1] = id end
    if until_when > now and until_when < math.huge then
      alive, soonest = alive + 1, math.min(soonest, until_when - now)
    end
    -- A predecessor that was told to stop and has had its time is fenced out before its successor begins.
    if until_when <= now and id ~= ARGV[1] and (redis.call('HGET', beside(KEYS[2], id), 'cancelUntil') or '') ~= '' then
      end_run(id, { run = beside(KEYS[2], id), effects = beside(KEYS[6], id), sets = sets }, ARGV[6],
        'state', 'cancelled', 'finishedAt', started)
    end
  end
  -- Those alive come first, and a line is no longer than a hundred: what Lua can't unpack is what another policy left.
  local older = 0
  if in_line and #blocking >= most then
    for i, at in ipairs(redis.call('ZMSCORE', KEYS[7], unpack(blocking, 1, math.min(#blocking, 2000)))) do
      local ahead = (tonumber(at or '') or math.huge) - tonumber(run[12])
      if ahead < 0 or (ahead == 0 and blocking[i] < ARGV[1]) then older = older + 1 end
    end
  end
  if alive >= most or older >= most then
    -- Who waits in line is asked again soon after its predecessor's end; who was to be skipped comes with its delivery.
    if policy ~= 'skip' then soonest = math.min(soonest, tonumber(ARGV[7])) end
    return { 'BUSY', string.format('%.0f', soonest) }
  end
end
local last = tonumber(call('HGET', KEYS[1], 'runFence') or '0')
local micros = tonumber(server_time[1]) * 1000000 + tonumber(server_time[2])
local next_fence = math.max(last + 1, micros)
if next_fence > 9007199254740991 then return { 'FENCE_EXHAUSTED' } end

local fence, attempt = string.format('%.0f', next_fence), string.format('%.0f', tonumber(run[4]) + 1)
local lease_until, started_at = string.format('%.0f', now + tonumber(ARGV[4])), run[13] or started
call('HSET', KEYS[1], 'runFence', fence)
call('HSET', KEYS[2], 'state', 'running', 'nonce', ARGV[2], 'fence', fence, 'worker', ARGV[3], 'attempt', attempt,
  'startedAt', started_at, 'attemptedAt', started, 'leaseUntil', lease_until, 'leaseMs', ARGV[4], 'waiting', '')
call('ZADD', KEYS[3], lease_until, ARGV[1])
call('ZADD', KEYS[4], lease_until, ARGV[1])
-- Only a claimed run is pending: whoever confirmed it took it out, and so did an earlier attempt.
if state == 'claimed' then call('ZREM', KEYS[5], ARGV[1]) end
return { 'BEGUN', fence, attempt, run, { started_at, started, ARGV[3] } }
