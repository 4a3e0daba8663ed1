-- Starts an attempt of each of many runs and issues its fence, or says why not.
--
-- Each run has two keys, the first of them at k, and five arguments, the first of them at a. The other keys of its cron are
-- found beside the cron record; on a cluster, where a call is about one run, they follow as well: a server that is moving
-- them refuses the call before anything is written.
-- KEYS[1]  where the fences of the crons are counted: their record, or one for all where a call may bring several
-- KEYS[k]  cron record
-- KEYS[k + 1]  the run
-- ARGV[1]  keep a finished run for, ms
-- ARGV[2]  ask again after, ms, while a run of the cron has to be waited for
-- ARGV[a]  nonce of the attempt
-- ARGV[a + 1]  worker
-- ARGV[a + 2]  length of the run lease, ms
-- ARGV[a + 3]  attempts allowed, besides those that an operator's answer allowed
-- ARGV[a + 4]  which ends are notified, or empty for those that an earlier attempt asked for
-- Returns  per run {'BEGUN', c, s, q, r, f, h, cancel, error, by, payload, handler, waiting} up to the last that there is
--          | {'BUSY', ms} | {'NOT_DUE', ms} | {'TERMINAL', state}
--          | {'TERMINAL', 'failed', 'NOW'} by the call that found every attempt used up
--          | {'UNCERTAIN'} | {'MISSING'} | {'FENCE_EXHAUSTED'} | {'BROKEN', what failed}
--
-- The fence increases over all runs of the cron, so that a sink keyed by anything can order the writes it gets. The record
-- comes as run-record lays it out, and without what most runs don't have: each word costs the worker more than its text.
-- @include lease/server-time
-- @include find-cron
-- @include end-run
-- @include isolate-failure
local KEYS, ARGV, call, number = KEYS, ARGV, redis.call, tonumber
local keep, turn_ms = ARGV[1], number(ARGV[2])
local micros = number(server_time[1]) * 1000000 + number(server_time[2])

-- Those that the rest of the call may need are taken at once, and unused ones are never issued: one write per fence would
-- be most of its cost.
local issued = { left = 0 }
local function next_fence(rest)
  if issued.left == 0 then
    local last = number(call('HGET', KEYS[1], 'runFence') or '0')
    issued.fence = math.max(last + 1, micros)
    if issued.fence > 9007199254740991 then return nil end
    issued.left = math.min(rest, 9007199254740992 - issued.fence)
    call('HSET', KEYS[1], 'runFence', string.format(WHOLE, issued.fence + issued.left - 1))
  end
  local fence = issued.fence
  issued.fence, issued.left = fence + 1, issued.left - 1
  return string.format(WHOLE, fence)
end

local function begun(found)
  local last = 12
  while last > 6 and not found[last] do last = last - 1 end
  return { 'BEGUN', unpack(found, 1, last) }
end

local function ended(cron, run, ending, ...)
  end_run(cron, run, keep, ending, ...)
  return { 'TERMINAL', ending }
end

-- How long a worker that is alive still has the run for itself, or nothing.
local function kept_busy(cron, run)
  local until_when, asked = number(call('ZSCORE', cron.open, run.id) or '') or 0,
    number(string.match(run.latest, '^%d+ (%d+)'))
  local left = until_when - now
  -- More than was ever asked for was left by a clock that went back. The attempt's own length is the measure: a worker
  -- with a shorter one must not cut a healthy lease.
  if left > asked * 2 then
    left = asked
    call('ZADD', cron.open, string.format('%.0f', now + asked), run.id)
  end
  if left > 0 then return { 'BUSY', string.format('%.0f', left) } end
end

local function refused(cron, run, start_by, most)
  local used = number(run.attempt)
  -- Cancelled, and no worker executes it: it has stopped.
  if run.cancel_until then return ended(cron, run, 'cancelled') end
  if used == 0 and start_by ~= '' and now > run.since + number(start_by) then
    return ended(cron, run, 'skipped', 'skipped', 'misfire')
  end
  local wait = run.not_before == '' and 0 or run.since + number(run.not_before) - now
  if wait > 0 then return { 'NOT_DUE', string.format('%.0f', wait) } end
  if used >= number(most) + (number(run.extra) or 0) then
    run.error = 'every attempt is used up; the last one never reported'
    local answer = ended(cron, run, 'failed', 'error', run.error)
    answer[3] = 'NOW'
    return answer
  end
end

-- A cancelled predecessor whose grace has passed is fenced out before its successor begins.
local function end_cancelled(cron, id)
  local other = read_run(cron.base .. 'run:' .. id, id)
  if other and other.cancel_until and not over[other.state] then ended(cron, other, 'cancelled') end
end

-- The open runs of its cron that it has to wait for: those above now, but of the ones that wait for a worker only the older
-- ones of a queue.
local function await_turn(cron, run, in_line, most)
  local soonest, alive, blocking = math.huge, 0, {}
  local last_score, rivals = in_line and '+inf' or BELOW_WAITING, {}
  -- Counting costs less than half of listing, and usually there are none.
  if call('ZCOUNT', cron.open, '-inf', last_score) > 0 then
    rivals = call('ZRANGEBYSCORE', cron.open, '-inf', last_score, 'WITHSCORES')
  end
  for i = 1, #rivals, 2 do
    local id, until_when = rivals[i], number(rivals[i + 1]) or 0
    if until_when > now and id ~= run.id then blocking[#blocking + 1] = id end
    if until_when > now and until_when < BAND then
      alive, soonest = alive + 1, math.min(soonest, until_when - now)
    end
    if until_when <= now and id ~= run.id then end_cancelled(cron, id) end
  end
  -- Running ones come first, and a queue has at most a hundred: only another policy leaves more than Lua can unpack.
  local older = 0
  if in_line and #blocking >= most then
    for i, instant in ipairs(call('ZMSCORE', cron.base .. 'runs', unpack(blocking, 1, math.min(#blocking, 2000)))) do
      local ahead = (number(instant or '') or math.huge) - run.since
      if ahead < 0 or (ahead == 0 and blocking[i] < run.id) then older = older + 1 end
    end
  end
  if alive >= most or older >= most then
    -- Asks again soon after its predecessor's end, which may come long before the predecessor's lease expires. The head of
    -- the queue asks most often: the queue moves no faster than its head asks.
    local place = in_line and math.min(math.max(older - most, 0) + 1, 4) or 4
    return { 'BUSY', string.format('%.0f', math.min(soonest, turn_ms * place / 4)) }
  end
end

local function start(cron, run, a, rest)
  local fence = next_fence(rest)
  if not fence then return { 'FENCE_EXHAUSTED' } end
  local at = since_due(run, now)
  local started = run.latest and string.match(run.latest, '^%d+ %d+ (%-?%d+)') or at
  run.state, run.attempt = 'running', string.format(WHOLE, number(run.attempt) + 1)
  local text, latest = state_text(run), table.concat({ fence, ARGV[a + 2], started, at }, ' ')
  if ARGV[a + 4] ~= '' then
    call('HSET', run.key, 's', text, 'r', latest, 'a', ARGV[a], 'w', ARGV[a + 1], 'notify', ARGV[a + 4])
  else
    call('HSET', run.key, 's', text, 'r', latest, 'a', ARGV[a], 'w', ARGV[a + 1])
  end
  local found = run.found
  if found[12] then call('HDEL', run.key, 'waiting') end
  found[2], found[4], found[12] = text, latest, false
  call('ZADD', cron.open, string.format(WHOLE, now + number(ARGV[a + 2])), run.id)
  return begun(found)
end

local function begin(k, a, rest)
  local cron, key = find_cron(KEYS[k]), KEYS[k + 1]
  local found = call('HMGET', key, 'c', 's', 'q', 'r', 'f', 'h', 'cancel', 'error', 'by', 'payload', 'handler', 'waiting', 'a',
    'notify', 'i')
  if not found[2] then return { 'MISSING' } end
  local run = unpack_run(key, id_of(cron, key), found[1], found[2])
  run.found, run.latest, run.nonce, run.notify, run.items = found, found[4], found[13], found[14], found[15]
  run.cancel_until = cancel_until(found[7])
  local state = run.state
  if state == 'running' and run.nonce == ARGV[a] then return begun(found) end
  if over[state] then return { 'TERMINAL', state } end
  if state == 'uncertain' then return { 'UNCERTAIN' } end
  local policy, most, start_by = settled(found[1])
  local answer = (state == 'running' and kept_busy(cron, run)) or refused(cron, run, start_by, ARGV[a + 3])
  if answer then return answer end
  return policy ~= 'a' and await_turn(cron, run, policy == 'q', number(most) or 1) or start(cron, run, a, rest)
end

local replies, count = {}, (#ARGV - 2) / 5
for n = 1, count do replies[n] = isolate_failure(begin, 2 * n, 5 * n - 2, count - n + 1) end
return replies
