-- Records of each of many crons that one occurrence is accepted, or why it and the instants before it did not run.
--
-- Each claim has seven keys, the first of them at k, and a row of arguments, the first of them at a.
-- KEYS[k]  cron record
-- KEYS[k + 1]  runs of the cron, by instant
-- KEYS[k + 2]  open runs, by the instant until which they block a successor
-- KEYS[k + 3]  watch list, by the instant of the next look
-- KEYS[k + 4]  pending runs: claimed, not confirmed
-- KEYS[k + 5]  skipped ranges, by their end
-- KEYS[k + 6]  the run; any key of the same tag when there is no occurrence
-- ARGV[1]  tolerance for clocks that differ, ms
-- ARGV[2]  look again after, ms
-- ARGV[3]  keep a skipped occurrence for, ms
-- ARGV[a]  fence of the lease, decimal
-- ARGV[a + 1]  nonce of the term
-- ARGV[a + 2]  holder
-- ARGV[a + 3]  generation of the definition
-- ARGV[a + 4]  nonce of this decision
-- ARGV[a + 5]  cursor the plan started from, epoch ms, or empty
-- ARGV[a + 6]  where the plan began if that is empty, epoch ms
-- ARGV[a + 7]  overlap policy: skip | queue-one | queue-all | replace | allow
-- ARGV[a + 8]  how many runs may be open at once before it applies
-- ARGV[a + 9]  how long a run that is replaced may go on, ms
-- ARGV[a + 10]  run id, or empty when only ranges are recorded
-- ARGV[a + 11]  scheduledAt, epoch ms; without an occurrence, the end of the last range
-- ARGV[a + 12]  dueAt, epoch ms; without an occurrence, when the end of the last range was due
-- ARGV[a + 13]  reason: schedule | catch-up
-- ARGV[a + 14]  how many words about ranges follow: the end of each, and after,through,reason
-- ARGV[a + 15]  how many words follow those: fields and values of the run that not every one has
-- ARGV[i]  a word about a range
-- ARGV[i + 1]  the one that belongs to it
-- Returns  per claim {'CLAIMED'} | {'SKIPPED', reason} | {'RECORDED'} | {'STALE', fence}
--          | {'STALE_DEFINITION', generation} | {'EARLY', ms} | {'MOVED', cursor}
--
-- The cursor is also the tombstone: what retention deleted can't come back, because its instant lies behind.
-- @include server-time
-- @include make-room
local KEYS, ARGV, call, number = KEYS, ARGV, redis.call, tonumber
local latest, look_at = now + number(ARGV[1]), string.format('%.0f', now + number(ARGV[2]))
local CLAIMED, RECORDED, OVERLAP, PAUSED = { 'CLAIMED' }, { 'RECORDED' }, { 'SKIPPED', 'overlap' }, { 'SKIPPED', 'paused' }

-- Only what is refused can have been decided before: a decision moves the cursor, and a plan counts from where it stands.
local function decided_before(k, a)
  local recorded = call('HMGET', KEYS[k], 'recordNonce', 'recordPaused')
  if recorded[1] == ARGV[a + 4] then return recorded[2] == '1' and PAUSED or RECORDED end
  if ARGV[a + 10] == '' then return nil end
  local run = call('HMGET', KEYS[k + 6], 'claimNonce', 'skipped')
  if run[1] ~= ARGV[a + 4] then return nil end
  return run[2] == 'overlap' and OVERLAP or CLAIMED
end

local function refuse(k, a, cron)
  local fence, accepted = number(ARGV[a]), number(cron[1] or '0')
  if fence < accepted or (fence == accepted and cron[2] ~= ARGV[a + 1]) then
    return decided_before(k, a) or (call('HINCRBY', KEYS[k], 'refusals', 1) and { 'STALE', cron[1] })
  end
  if number(ARGV[a + 3]) < number(cron[3] or '0') then
    return decided_before(k, a) or { 'STALE_DEFINITION', cron[3] }
  end
  local cursor = cron[4] or ''
  if cursor ~= ARGV[a + 5] or (cursor ~= '' and number(ARGV[a + 11]) <= number(cursor)) then
    return decided_before(k, a) or { 'MOVED', cursor }
  end
  -- Ranges too: a pod whose clock is ahead would else write off instants that are still to come.
  local due = number(ARGV[a + 12])
  if due > latest then return { 'EARLY', string.format('%.0f', due - now) } end
end

-- One range for the whole of a pause, however many instants it takes.
local function record_pause(k, a)
  local after = ARGV[a + 5] == '' and ARGV[a + 6] or ARGV[a + 5]
  local ranges, skips = number(ARGV[a + 14]), KEYS[k + 5]
  if ranges > 0 then
    local i = a + 14 + ranges
    after = ARGV[i]
  else
    local last = call('ZREVRANGE', skips, 0, 0)[1] or ''
    local from, through = string.match(last, '^(%d+),(%d+),paused$')
    if through == after then
      call('ZREM', skips, last)
      after = from
    end
  end
  call('ZADD', skips, ARGV[a + 11], after .. ',' .. ARGV[a + 11] .. ',paused')
end

local function claim(k, a)
  local record = KEYS[k]
  local cron = call('HMGET', record, 'fence', 'term', 'generation', 'cursor', 'pausedUntil')
  local answer = refuse(k, a, cron)
  if answer then return answer end
  local id, instant, policy, most = ARGV[a + 10], ARGV[a + 11], ARGV[a + 7], ARGV[a + 8]
  local paused = id ~= '' and cron[5] and (cron[5] == 'ever' or number(cron[5]) > now)
  local skipped, surplus = false, 0
  if id ~= '' and not paused then skipped, surplus = overlap_of(KEYS[k + 2], policy, most) end

  call('HSET', record, 'cursor', instant)
  -- Tick after tick they are the same, and the term is that of its fence.
  if cron[1] ~= ARGV[a] or cron[3] ~= ARGV[a + 3] then
    call('HSET', record, 'fence', ARGV[a], 'term', ARGV[a + 1], 'generation', ARGV[a + 3])
  end
  if not cron[4] then call('HSET', record, 'began', ARGV[a + 6]) end
  local words = a + 16 + number(ARGV[a + 14])
  for i = a + 16, words - 1, 2 do call('ZADD', KEYS[k + 5], ARGV[i], ARGV[i + 1]) end
  if id == '' or paused then
    if paused then record_pause(k, a) end
    call('HSET', record, 'recordNonce', ARGV[a + 4], 'recordPaused', paused and '1' or '0')
    return paused and PAUSED or RECORDED
  end

  local run = KEYS[k + 6]
  call('ZADD', KEYS[k + 1], instant, id)
  call('HSET', run, 'id', id, 'state', skipped and 'skipped' or 'claimed', 'scheduledAt', instant, 'dueAt', ARGV[a + 12],
    'reason', ARGV[a + 13], 'overlap', policy, 'generation', ARGV[a + 3], 'claimFence', ARGV[a],
    'claimedBy', ARGV[a + 2], 'claimNonce', ARGV[a + 4], 'claimedAt', written_at, 'attempt', '0',
    'delivery', skipped and '0' or '1', unpack(ARGV, words, words + number(ARGV[a + 15]) - 1))
  if skipped then
    call('HSET', run, 'skipped', 'overlap', 'finishedAt', written_at)
    call('PEXPIRE', run, ARGV[3])
    return OVERLAP
  end
  if surplus > 0 then
    make_room({ runs = KEYS[k + 1], open = KEYS[k + 2], watch = KEYS[k + 3], pending = KEYS[k + 4], run = run, id = id,
      keep = ARGV[3] }, policy, most, surplus, ARGV[a + 9])
  end
  call('ZADD', KEYS[k + 2], '+inf', id)
  call('ZADD', KEYS[k + 3], look_at, id)
  call('ZADD', KEYS[k + 4], instant, id)
  return CLAIMED
end

local replies, a = {}, 4
for k = 1, #KEYS, 7 do
  replies[#replies + 1] = claim(k, a)
  a = a + 16 + number(ARGV[a + 14]) + number(ARGV[a + 15])
end
return replies
