-- Starts an attempt of each of many runs and issues its fence, or says why not.
--
-- Each run has two keys, the first of them at k, and five arguments, the first of them at a. The other keys of its cron are
-- found beside the cron record; on a cluster, where a call is about one run, they follow as well: a server that is moving
-- them refuses the call before anything is written.
-- KEYS[k]  cron record
-- KEYS[k + 1]  the run
-- ARGV[1]  keep a finished run for, ms
-- ARGV[2]  ask again after, ms, while a run of the cron has to be waited for
-- ARGV[a]  nonce of the attempt
-- ARGV[a + 1]  worker
-- ARGV[a + 2]  length of the run lease, ms
-- ARGV[a + 3]  attempts allowed, besides those that an operator's answer allowed
-- ARGV[a + 4]  which ends are notified, or empty for those that an earlier attempt asked for
-- Returns  per run {'BEGUN', numbers, claimedBy, ...} | {'BUSY', ms} | {'NOT_DUE', ms} | {'TERMINAL', state}
--          | {'TERMINAL', 'failed', 'NOW'} by the call that found every attempt used up
--          | {'UNCERTAIN'} | {'MISSING'} | {'FENCE_EXHAUSTED'} | {'BROKEN', what failed}
--
-- The fence increases over all runs of the cron, so that a sink keyed by anything can order the writes it gets. The record
-- comes with as few words as may be, because each of them costs the worker more than it costs to put them together: what
-- has no spaces in it as one, and texts that most runs don't have only where there is one. begun-run-codec.ts
-- has their order.
-- @include lease/server-time
-- @include end-run
-- @include find-cron
-- @include isolate-failure
local KEYS, ARGV, call, number = KEYS, ARGV, redis.call, tonumber
local keep, turn_ms, started = ARGV[1], number(ARGV[2]), string.format('%.0f', now)
local micros = number(server_time[1]) * 1000000 + number(server_time[2])

-- Most of a call have the same.
local lease_ends = {}
local function lease_end(length)
  if not lease_ends[length] then lease_ends[length] = string.format('%.0f', now + number(length)) end
  return lease_ends[length]
end

-- The fences that the rest of the call may need are taken at once, and unused ones are never issued: one write per fence would
-- be most of its cost.
local function next_fence(cron, rest)
  if cron.left == 0 then
    local last = number(call('HGET', cron.record, 'runFence') or '0')
    cron.fence = math.max(last + 1, micros)
    if cron.fence > 9007199254740991 then return nil end
    cron.left = math.min(rest, 9007199254740992 - cron.fence)
    call('HSET', cron.record, 'runFence', string.format('%.0f', cron.fence + cron.left - 1))
  end
  local fence = cron.fence
  cron.fence, cron.left = fence + 1, cron.left - 1
  return string.format('%.0f', fence)
end

local function begun(run, fence, attempt, started_at, attempted_at, waiting, cancel_at, cancel_by)
  local numbers = table.concat({ fence, attempt, started_at, attempted_at, run[7] or '', run[12], run[15], run[16],
    run[17] or '', run[18], run[19], run[20], run[21] or '', run[22], run[23] or '', waiting or '', cancel_at or '',
    run[11] or '' }, ' ')
  if not (run[25] or run[26] or run[27] or run[28] or cancel_by) then return { 'BEGUN', numbers, run[24] } end
  return { 'BEGUN', numbers, run[24], run[25], run[26], run[27], run[28], cancel_by or false }
end

local function ended(at, ending, ...)
  local base = at.cron.base
  local keys = { run = at.run, effects = base .. 'effects:' .. at.id, sets = { at.cron.open, at.cron.watch, base .. 'pending' } }
  end_run(at.id, keys, keep, 'state', ending, 'finishedAt', started, ...)
  return { 'TERMINAL', ending }
end

-- How long a worker that is alive still has the run for itself, or nothing.
local function kept_busy(at, run)
  local left, asked = number(run[5]) - now, number(run[6])
  -- More than was ever asked for was left by a clock that went back. The attempt's own length is the measure: a worker
  -- with a shorter one must not cut a healthy lease.
  if left > asked * 2 then
    left = asked
    local cut = string.format('%.0f', now + asked)
    call('HSET', at.run, 'leaseUntil', cut)
    call('ZADD', at.cron.open, cut, at.id)
    call('ZADD', at.cron.watch, cut, at.id)
  end
  if left > 0 then return { 'BUSY', string.format('%.0f', left) } end
end

local function refused(at, run, most)
  local used = number(run[4])
  -- Cancelled, and no worker executes it: it has stopped.
  if (run[11] or '') ~= '' then return ended(at, 'cancelled') end
  if used == 0 and now > (number(run[10] or '') or now) then return ended(at, 'skipped', 'skipped', 'misfire') end
  local wait = number(run[7] or '0') - now
  if wait > 0 then return { 'NOT_DUE', string.format('%.0f', wait) } end
  if used >= number(most) + number(run[14] or '0') then
    local answer = ended(at, 'failed', 'error', 'every attempt is used up; the last one never reported')
    answer[3] = 'NOW'
    return answer
  end
end

-- The open runs of its cron that it has to wait for.
local function await_turn(at, run, policy)
  local most, in_line = number(run[9] or '') or 1, policy == 'queue-all'
  local soonest, alive, blocking = math.huge, 0, {}
  local last_score, rivals = in_line and '+inf' or '(+inf', {}
  -- Counting costs less than half of listing, and usually there are none.
  if call('ZCOUNT', at.cron.open, '-inf', last_score) > 0 then
    rivals = call('ZRANGEBYSCORE', at.cron.open, '-inf', last_score, 'WITHSCORES')
  end
  for i = 1, #rivals, 2 do
    local id, until_when = rivals[i], rivals[i + 1] == 'inf' and math.huge or number(rivals[i + 1])
    if until_when > now and id ~= at.id then blocking[#blocking + 1] = id end
    if until_when > now and until_when < math.huge then
      alive, soonest = alive + 1, math.min(soonest, until_when - now)
    end
    -- A cancelled predecessor whose grace has passed is fenced out before its successor begins.
    local other = at.cron.base .. 'run:' .. id
    if until_when <= now and id ~= at.id and (call('HGET', other, 'cancelUntil') or '') ~= '' then
      ended({ cron = at.cron, id = id, run = other }, 'cancelled')
    end
  end
  -- Running ones come first, and a queue has at most a hundred: only another policy leaves more than Lua can unpack.
  local older = 0
  if in_line and #blocking >= most then
    for i, instant in ipairs(call('ZMSCORE', at.cron.base .. 'runs', unpack(blocking, 1, math.min(#blocking, 2000)))) do
      local ahead = (number(instant or '') or math.huge) - number(run[12])
      if ahead < 0 or (ahead == 0 and blocking[i] < at.id) then older = older + 1 end
    end
  end
  if alive >= most or older >= most then
    -- Asks again soon after its predecessor's end, which may come long before the predecessor's lease expires. The head of
    -- the queue asks most often: the queue moves no faster than its head asks.
    local place = in_line and math.min(math.max(older - most, 0) + 1, 4) or 4
    return { 'BUSY', string.format('%.0f', math.min(soonest, turn_ms * place / 4)) }
  end
end

local function start(at, run, a, rest)
  local fence = next_fence(at.cron, rest)
  if not fence then return { 'FENCE_EXHAUSTED' } end
  local attempt, started_at = string.format('%.0f', number(run[4]) + 1), run[13] or started
  local length, lease_until = ARGV[a + 2], lease_end(ARGV[a + 2])
  call('HSET', at.run, 'state', 'running', 'nonce', ARGV[a], 'fence', fence, 'worker', ARGV[a + 1], 'attempt', attempt,
    'startedAt', started_at, 'attemptedAt', started, 'leaseUntil', lease_until, 'leaseMs', length, 'waiting', '')
  if ARGV[a + 4] ~= '' then call('HSET', at.run, 'notify', ARGV[a + 4]) end
  call('ZADD', at.cron.open, lease_until, at.id)
  call('ZADD', at.cron.watch, lease_until, at.id)
  -- Only a claimed run is pending: the confirmation, or an earlier attempt, has removed all others.
  if run[1] == 'claimed' then call('ZREM', at.cron.base .. 'pending', at.id) end
  return begun(run, fence, attempt, started_at, started)
end

local function begin(k, a, rest)
  local key = KEYS[k + 1]
  local run = call('HMGET', key, 'state', 'nonce', 'fence', 'attempt', 'leaseUntil', 'leaseMs', 'notBefore', 'overlap',
    'maxConcurrency', 'startBy', 'cancelUntil', 'scheduledAt', 'startedAt', 'extraAttempts', 'dueAt', 'reason', 'missed',
    'generation', 'claimFence', 'claimedAt', 'enqueuedAt', 'delivery', 'priority', 'claimedBy', 'error', 'by', 'payload',
    'handler')
  local state = run[1]
  if not state then return { 'MISSING' } end
  if state == 'running' and run[2] == ARGV[a] then
    local since = call('HMGET', key, 'startedAt', 'attemptedAt', 'waiting', 'cancelAt', 'cancelBy')
    return begun(run, run[3], run[4], unpack(since))
  end
  if over[state] then return { 'TERMINAL', state } end
  if state == 'uncertain' then return { 'UNCERTAIN' } end
  local cron = find_cron(KEYS[k])
  local at = { cron = cron, run = key, id = id_of(cron, key) }
  local answer = (state == 'running' and kept_busy(at, run)) or refused(at, run, ARGV[a + 3])
  if answer then return answer end
  local policy = run[8]
  return policy ~= 'allow' and await_turn(at, run, policy) or start(at, run, a, rest)
end

local replies, count = {}, (#ARGV - 2) / 5
for n = 1, count do replies[n] = isolate_failure(begin, 2 * n - 1, 5 * n - 2, count - n + 1) end
return replies
