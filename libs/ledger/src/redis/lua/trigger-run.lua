-- Accepts a triggered run, or says why not. Moves no cursor, and ignores a pause.
-- Its arguments and replies are those of redis-operator-codec.ts.
--
-- KEYS[1]  cron record
-- KEYS[2]  runs of the cron, by instant
-- KEYS[3]  open runs
-- KEYS[4]  watch list
-- KEYS[5]  pending runs
-- KEYS[6]  skipped ranges, by their end
-- KEYS[7]  the run
-- KEYS[8]  instants behind the cursor that were run on request
-- KEYS[9]  run ids that were used
-- KEYS[10]  effects of the run
-- KEYS[11]  items of the run
-- KEYS[12]  effects of the run that it runs again, where there is one
-- KEYS[13]  items of that run
-- KEYS[14]  that run
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
-- Returns  {'CLAIMED'} | {'SKIPPED', reason} | {'EXISTS', state} | {'AHEAD'} | {'FORGOTTEN'}
--
-- After these come fields and values of the run. An instant behind the cursor may be run when it is known not to have run:
-- it lies in a skipped range, or before the first that was ever accounted for; without one, before there was the cron. It is
-- remembered for good, because both outlive the run's record. The id of a run whose record is gone makes no other one while a duplicate of it may come.
-- @include lease/server-time
-- @include free-capacity
-- @include copy-done
-- @include remember-id
local earlier = redis.call('HMGET', KEYS[7], 'state', 'claimNonce', 'skipped')
if earlier[1] and earlier[2] == ARGV[2] then
  if earlier[3] == 'overlap' then return { 'SKIPPED', 'overlap' } end
  return { 'CLAIMED' }
end
if earlier[1] then return { 'EXISTS', earlier[1] } end
if (tonumber(redis.call('ZSCORE', KEYS[9], ARGV[1]) or '') or 0) > now then return { 'FORGOTTEN' } end
if ARGV[12] ~= '' and now - tonumber(ARGV[12]) > tonumber(ARGV[13]) then return { 'FORGOTTEN' } end
-- Its record has run out, and retention has not come by.
if string.find(ARGV[1], '@manual-', 1, true) and redis.call('ZSCORE', KEYS[2], ARGV[1]) then return { 'FORGOTTEN' } end
if KEYS[14] and redis.call('EXISTS', KEYS[14]) == 0 then return { 'FORGOTTEN' } end

local instant = ARGV[3] == '' and written_at or ARGV[3]
if ARGV[3] ~= '' then
  local cron = redis.call('HMGET', KEYS[1], 'cursor', 'began')
  local since = tonumber(ARGV[14]) or 0
  if tonumber(instant) > (tonumber(cron[1] or '') or since) then return { 'AHEAD' } end
  if ARGV[4] == '1' then
    local range = redis.call('ZRANGEBYSCORE', KEYS[6], instant, '+inf', 'LIMIT', 0, 1)[1] or ''
    local after = tonumber(string.match(range, '^%d+') or '') or math.huge
    local known = after < tonumber(instant) or tonumber(instant) <= (tonumber(cron[2] or '') or since)
    if not known or redis.call('SISMEMBER', KEYS[8], instant) == 1 then return { 'FORGOTTEN' } end
  end
end
local skipped, surplus = overlap_of(KEYS[3], ARGV[5], ARGV[6])

if ARGV[4] == '1' then redis.call('SADD', KEYS[8], instant) end
if ARGV[11] ~= '' then remember_id(KEYS[9], ARGV[1], tonumber(ARGV[11])) end
redis.call('ZADD', KEYS[2], instant, ARGV[1])
redis.call('HSET', KEYS[7], 'id', ARGV[1], 'state', 'claimed', 'scheduledAt', instant, 'dueAt', instant,
  'overlap', ARGV[5], 'claimFence', '0', 'claimNonce', ARGV[2], 'claimedAt', written_at, 'attempt', '0',
  'delivery', '1', unpack(ARGV, 15))
if skipped then
  redis.call('HSET', KEYS[7], 'state', 'skipped', 'skipped', 'overlap', 'delivery', '0', 'finishedAt', written_at)
  redis.call('PEXPIRE', KEYS[7], ARGV[9])
  return { 'SKIPPED', 'overlap' }
end
free_capacity({ runs = KEYS[2], open = KEYS[3], watch = KEYS[4], pending = KEYS[5], run = KEYS[7], id = ARGV[1],
  keep = ARGV[9] }, ARGV[5], ARGV[6], surplus, ARGV[7])
redis.call('ZADD', KEYS[3], '+inf', ARGV[1])
local later = tonumber(ARGV[10]) or 0
if later > now then redis.call('HSET', KEYS[7], 'dueAt', ARGV[10], 'notBefore', ARGV[10]) end
if KEYS[12] then copy_done(KEYS[12], KEYS[13], KEYS[10], KEYS[11]) end
redis.call('ZADD', KEYS[4], string.format('%.0f', math.max(now, later) + tonumber(ARGV[8])), ARGV[1])
redis.call('ZADD', KEYS[5], instant, ARGV[1])
return { 'CLAIMED' }
