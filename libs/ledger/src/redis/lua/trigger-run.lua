-- Accepts a triggered run, or says why not. Moves no cursor, and ignores a pause.
-- Its arguments and replies are those of redis-operator-codec.ts.
--
-- KEYS[1]  cron record
-- KEYS[2]  runs of the cron, by instant
-- KEYS[3]  open runs
-- KEYS[4]  skipped ranges, by their end
-- KEYS[5]  the run
-- KEYS[6]  instants behind the cursor that were run on request
-- KEYS[7]  run ids that were used
-- KEYS[8]  items of the run
-- KEYS[9]  whether the cron is noted, see note-cron
-- KEYS[10]  items of the run that it runs again, where there is one
-- KEYS[11]  that run
-- ARGV[1]  run id
-- ARGV[2]  nonce
-- ARGV[3]  instant, epoch ms, or empty for now
-- ARGV[4]  1 when the id is the instant's own
-- ARGV[5]  overlap policy: skip | queue-one | queue-all | replace | allow
-- ARGV[6]  how many runs may be open at once before it applies
-- ARGV[7]  how long a run that is replaced may go on, ms
-- ARGV[8]  look again after, ms
-- ARGV[9]  keep a skipped run for, ms
-- ARGV[10]  not before, epoch ms, or empty
-- ARGV[11]  how long the id can't be used again because it is an idempotency key, ms, or empty
-- ARGV[12]  when the id was made, epoch ms, or empty
-- ARGV[13]  how much later than that it may come, ms
-- ARGV[14]  since when there is the cron, epoch ms, or empty
-- ARGV[15]  generation of the definition
-- ARGV[16]  letter of the reason
-- ARGV[17]  who asked
-- ARGV[18]  what the record has about the rest, see run-record
-- Returns  {'CLAIMED'} | {'SKIPPED', reason} | {'EXISTS', state} | {'AHEAD'} | {'FORGOTTEN'}
--
-- After these come fields and values of the run. An instant behind the cursor may be run when it is known not to have run:
-- it lies in a skipped range, or before the first that was ever accounted for; without one, before there was the cron. It is
-- remembered for good, because both outlive the run's record. The id of a run whose record is gone makes no other one while a duplicate of it may come.
-- @include lease/server-time
-- @include find-cron
-- @include free-capacity
-- @include record-claim
-- @include copy-done
-- @include remember-ids
local earlier, skip_reason = read_run(KEYS[5], ARGV[1]), redis.call('HMGET', KEYS[5], 'n', 'skipped', 'waiting')
if earlier and skip_reason[1] == ARGV[2] then
  if skip_reason[2] == 'overlap' then return { 'SKIPPED', skip_reason[3] or 'overlap' } end
  return { 'CLAIMED' }
end
if earlier then return { 'EXISTS', earlier.state } end
if (tonumber(redis.call('ZSCORE', KEYS[7], ARGV[1]) or '') or 0) > now then return { 'FORGOTTEN' } end
if ARGV[12] ~= '' and now - tonumber(ARGV[12]) > tonumber(ARGV[13]) then return { 'FORGOTTEN' } end
-- Its record has run out, and retention has not come by.
if string.find(ARGV[1], '@manual-', 1, true) and redis.call('ZSCORE', KEYS[2], ARGV[1]) then return { 'FORGOTTEN' } end
if KEYS[11] and redis.call('EXISTS', KEYS[11]) == 0 then return { 'FORGOTTEN' } end

local instant = ARGV[3] == '' and at_once or ARGV[3]
if ARGV[3] ~= '' then
  local record = redis.call('HMGET', KEYS[1], 'cursor', 'began')
  local since = tonumber(ARGV[14]) or 0
  if tonumber(instant) > (tonumber(record[1] or '') or since) then return { 'AHEAD' } end
  if ARGV[4] == '1' then
    local range = redis.call('ZRANGEBYSCORE', KEYS[4], instant, '+inf', 'LIMIT', 0, 1)[1] or ''
    local after = tonumber(string.match(range, '^%d+') or '') or math.huge
    local known = after < tonumber(instant) or tonumber(instant) <= (tonumber(record[2] or '') or since)
    if not known or redis.call('SISMEMBER', KEYS[6], instant) == 1 then return { 'FORGOTTEN' } end
  end
end
local skipped, surplus = overlap_of(KEYS[3], ARGV[5], ARGV[6])
if skipped then skipped = blocked_by(find_cron(KEYS[1])) end

if ARGV[4] == '1' then redis.call('SADD', KEYS[6], instant) end
if ARGV[11] ~= '' then remember_ids(KEYS[7], { ARGV[1] }, tonumber(ARGV[11])) end
redis.call('ZADD', KEYS[2], instant, ARGV[1])
local later = tonumber(ARGV[10]) or 0
local waits = later > now and not skipped
local terms = { instant = instant, due = waits and ARGV[10] or instant, reason = ARGV[16], policy = ARGV[5],
  generation = ARGV[15], rest = ARGV[18], not_before = waits and later or nil }
record_claim(KEYS[5], terms, skipped and 'skipped' or 'claimed', '0', ARGV[2], ARGV[17], 'by', ARGV[17], unpack(ARGV, 19))
if skipped then
  note_blocked(KEYS[5], skipped)
  redis.call('PEXPIRE', KEYS[5], ARGV[9])
  note_cron(KEYS[9], ARGV[9])
  return { 'SKIPPED', skipped }
end
free_capacity(find_cron(KEYS[1]), ARGV[1], ARGV[9], ARGV[5], ARGV[6], surplus, ARGV[7])
if KEYS[11] then copy_done(KEYS[11], KEYS[10], KEYS[5], KEYS[8]) end
redis.call('ZADD', KEYS[3], score_of(2, math.max(now, later) + tonumber(ARGV[8])), ARGV[1])
return { 'CLAIMED' }
