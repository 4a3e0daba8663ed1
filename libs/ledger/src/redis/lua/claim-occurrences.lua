-- Records of each of many crons that one occurrence is accepted, or why it and the instants before it did not run.
-- Its arguments and replies are those of redis-occurrence-codec.ts.
--
-- Each claim has two keys, the first of them at k, and a row of arguments, the first of them at a. The other keys of its
-- cron are found beside the cron record; on a cluster, where a call is one claim, they follow as well: a server that is
-- moving them refuses the call before anything is written.
-- KEYS[k]  cron record
-- KEYS[k + 1]  the run; without an occurrence, that of the empty id
-- ARGV[1]  tolerance for clocks that differ, ms
-- ARGV[2]  look again after, ms
-- ARGV[3]  keep a skipped occurrence for, ms
-- ARGV[4]  state in which an accepted run begins: claimed | enqueued, where the caller adds its job in the same step
-- ARGV[a]  fence of the lease, decimal
-- ARGV[a + 1]  nonce of the term
-- ARGV[a + 2]  holder
-- ARGV[a + 3]  nonce of this decision
-- ARGV[a + 4]  the plan, as one text: crons that are due together usually share it
-- ARGV[i]  a word about a range: its end, or after,through,reason; then fields and values of the run that not every one has
-- ARGV[i + 1]  the one that belongs to it
-- Returns  per claim {'CLAIMED', 'behind' or nothing} | {'SKIPPED', reason} | {'RECORDED'} | {'STALE', fence}
--          | {'STALE_DEFINITION', generation} | {'EARLY', ms} | {'MOVED', cursor}
--          | {'BROKEN', what is wrong with a record of the cron}
-- A script that calls this one also gets the ids of the runs that this call accepted: a repeated claim is CLAIMED once more, and
-- its run may have begun since.
--
-- The plan has, with a space between any two, and times as epoch ms: generation of the definition; cursor it started from,
-- or nothing; where it began if that is nothing; scheduledAt, or without an occurrence the end of the last range; dueAt, or
-- when that was due; letter of the reason; overlap policy: skip | queue-one | queue-all | replace | allow; how many
-- runs may be open at once before it applies; how long a run that is replaced may go on, ms; how many words about ranges
-- follow; how many words follow those; and what the record has about the rest, see run-record.
--
-- The cursor is also the tombstone: what retention deleted can't come back, because its instant lies behind.
-- @include lease/server-time
-- @include find-cron
-- @include free-capacity
-- @include record-claim
-- @include isolate-failure
local KEYS, ARGV, call, number = KEYS, ARGV, redis.call, tonumber
local state, accepted = ARGV[4], {}
local latest, look_at = now + number(ARGV[1]), score_of(state == 'enqueued' and 1 or 2, now + number(ARGV[2]))
local CLAIMED, BEHIND, RECORDED = { 'CLAIMED' }, { 'CLAIMED', 'behind' }, { 'RECORDED' }
local PAUSED = { 'SKIPPED', 'paused' }
local PLAN = '^(%d+) (%-?%d*) (%-?%d+) (%-?%d+) (%-?%d+) (%a?) (%S+) (%d+) (%d+) (%d+) (%d+) (.*)$'

-- Read once, however many claims have it.
local plans = {}
local function plan_of(text)
  local plan = plans[text]
  if not plan then
    local generation, cursor, after, instant, due, reason, policy, most, grace, ranges, options, rest =
      string.match(text, PLAN)
    plan = { generation = generation, cursor = cursor, after = after, instant = instant, due = due, reason = reason,
      policy = policy, most = most, grace = grace, ranges = number(ranges), options = number(options), rest = rest }
    plans[text] = plan
  end
  return plan
end

-- Only a refused claim can be a repeated one: an accepted claim moves the cursor, and a plan starts at the cursor.
local function decided_before(k, a, id)
  local recorded = call('HMGET', KEYS[k], 'recordNonce', 'recordPaused')
  if recorded[1] == ARGV[a + 3] then return recorded[2] == '1' and PAUSED or RECORDED end
  if id == '' then return nil end
  local run = call('HMGET', KEYS[k + 1], 'n', 'skipped', 'waiting')
  if run[1] ~= ARGV[a + 3] then return nil end
  return run[2] == 'overlap' and { 'SKIPPED', run[3] or 'overlap' } or CLAIMED
end

local function refuse(k, a, plan, cron, id)
  local fence, accepted = number(ARGV[a]), number(cron[1] or '0')
  if fence < accepted or (fence == accepted and cron[2] ~= ARGV[a + 1]) then
    return decided_before(k, a, id) or (call('HINCRBY', KEYS[k], 'refusals', 1) and { 'STALE', cron[1] })
  end
  if number(plan.generation) < number(cron[3] or '0') then
    return decided_before(k, a, id) or { 'STALE_DEFINITION', cron[3] }
  end
  local cursor = cron[4] or ''
  if cursor ~= plan.cursor or (cursor ~= '' and number(plan.instant) <= number(cursor)) then
    return decided_before(k, a, id) or { 'MOVED', cursor }
  end
  -- Ranges too: otherwise a pod whose clock is ahead would write off future instants.
  local due = number(plan.due)
  if due > latest then return { 'EARLY', string.format('%.0f', due - now) } end
end

-- One range for the whole of a pause, however many instants it takes.
local function record_pause(skips, a, plan)
  local after = plan.cursor == '' and plan.after or plan.cursor
  if plan.ranges > 0 then
    local i = a + 3 + plan.ranges
    after = ARGV[i]
  else
    local last = call('ZREVRANGE', skips, 0, 0)[1] or ''
    local from, through = string.match(last, '^(%d+),(%d+),paused$')
    if through == after then
      call('ZREM', skips, last)
      after = from
    end
  end
  call('ZADD', skips, plan.instant, after .. ',' .. plan.instant .. ',paused')
end

local function claim(k, a, plan)
  local record, run = KEYS[k], KEYS[k + 1]
  local at = find_cron(record)
  local base, id = at.base, id_of(at, run)
  local cron = call('HMGET', record, 'fence', 'term', 'generation', 'cursor', 'pausedUntil')
  local answer = refuse(k, a, plan, cron, id)
  if answer then return answer end
  local instant, policy, open = plan.instant, plan.policy, at.open
  local paused = id ~= '' and cron[5] and (cron[5] == 'ever' or number(cron[5]) > now)
  local skipped, surplus = false, 0
  if id ~= '' and not paused then skipped, surplus = overlap_of(open, policy, plan.most) end
  if skipped then skipped = blocked_by(at) end

  call('HSET', record, 'cursor', instant)
  -- Tick after tick they are the same, and the term is that of its fence.
  if cron[1] ~= ARGV[a] or cron[3] ~= plan.generation then
    call('HSET', record, 'fence', ARGV[a], 'term', ARGV[a + 1], 'generation', plan.generation)
  end
  if not cron[4] then call('HSET', record, 'began', plan.after) end
  local words = a + 5 + plan.ranges
  for i = a + 5, words - 1, 2 do call('ZADD', base .. 'skips', ARGV[i], ARGV[i + 1]) end
  if id == '' or paused then
    if paused then
      record_pause(base .. 'skips', a, plan)
      -- A build that noted no pause may have recorded it.
      if cron[5] == 'ever' then note_pause(base .. 'noted', ARGV[3], cron[5]) end
    end
    call('HSET', record, 'recordNonce', ARGV[a + 3], 'recordPaused', paused and '1' or '0')
    return paused and PAUSED or RECORDED
  end

  call('ZADD', base .. 'runs', instant, id)
  record_claim(run, plan, skipped and 'skipped' or state, ARGV[a], ARGV[a + 3], ARGV[a + 2],
    unpack(ARGV, words, words + plan.options - 1))
  if skipped then
    note_blocked(run, skipped)
    call('PEXPIRE', run, ARGV[3])
    note_cron(base .. 'noted', ARGV[3])
    return { 'SKIPPED', skipped }
  end
  if surplus > 0 then free_capacity(at, id, ARGV[3], policy, plan.most, surplus, plan.grace) end
  call('ZADD', open, look_at, id)
  accepted[#accepted + 1] = id
  return surplus > 0 and BEHIND or CLAIMED
end

local replies, k, a = {}, 1, 5
while a <= #ARGV do
  local plan = plan_of(ARGV[a + 4])
  replies[#replies + 1] = isolate_failure(claim, k, a, plan)
  k, a = k + 2, a + 5 + plan.ranges + plan.options
end
return replies, accepted
