-- Records that one occurrence is accepted, or why it and the instants before it did not run.
--
-- KEYS[1]  cron record
-- KEYS[2]  runs of the cron, by instant
-- KEYS[3]  open runs, by the instant until which they block a successor
-- KEYS[4]  watch list, by the instant of the next look
-- KEYS[5]  pending runs: claimed, not confirmed
-- KEYS[6]  skipped ranges, by their end
-- KEYS[7]  the run; any key of the same tag when there is no occurrence
-- ARGV[1]  fence of the lease, decimal
-- ARGV[2]  nonce of the term
-- ARGV[3]  holder
-- ARGV[4]  generation of the definition
-- ARGV[5]  nonce of this decision
-- ARGV[6]  cursor the plan started from, epoch ms, or empty
-- ARGV[7]  overlap policy: skip | allow
-- ARGV[8]  run id, or empty when only ranges are recorded
-- ARGV[9]  scheduledAt, epoch ms; without an occurrence, the end of the last range
-- ARGV[10] dueAt, epoch ms; without an occurrence, when the end of the last range was due
-- ARGV[11] reason: schedule | catch-up
-- ARGV[12] missed instants as count,from,to, or empty
-- ARGV[13] tolerance for clocks that differ, ms
-- ARGV[14] look again after, ms
-- ARGV[15] keep a skipped occurrence for, ms
-- ARGV[16] how many ranges follow
-- ARGV[3 * i + 14]  after of the i-th range, epoch ms
-- ARGV[3 * i + 15]  through of the i-th range, epoch ms
-- ARGV[3 * i + 16]  reason of the i-th range: misfire | merged
-- Returns  {'CLAIMED'} | {'SKIPPED', reason} | {'RECORDED'} | {'STALE', fence} | {'STALE_DEFINITION', generation}
--          | {'EARLY', ms} | {'MOVED', cursor}
--
-- The cursor is also the tombstone: what retention deleted can't come back, because its instant lies behind.
local has_run = ARGV[8] ~= ''
if has_run then
  local earlier = redis.call('HMGET', KEYS[7], 'claimNonce', 'skipped')
  if earlier[1] == ARGV[5] then
    if earlier[2] then return { 'SKIPPED', earlier[2] } end
    return { 'CLAIMED' }
  end
end

local cron = redis.call('HMGET', KEYS[1], 'fence', 'term', 'generation', 'cursor', 'recordNonce')
if not has_run and cron[5] == ARGV[5] then return { 'RECORDED' } end
local fence, accepted = tonumber(ARGV[1]), tonumber(cron[1] or '0')
if fence < accepted or (fence == accepted and cron[2] ~= ARGV[2]) then
  redis.call('HINCRBY', KEYS[1], 'refusals', 1)
  return { 'STALE', cron[1] }
end
if tonumber(ARGV[4]) < tonumber(cron[3] or '0') then return { 'STALE_DEFINITION', cron[3] } end
local cursor = cron[4] or ''
if cursor ~= ARGV[6] or (cursor ~= '' and tonumber(ARGV[9]) <= tonumber(cursor)) then return { 'MOVED', cursor } end
-- @include server-time
-- Ranges too: a pod whose clock is ahead would else write off instants that are still to come.
if tonumber(ARGV[10]) > now + tonumber(ARGV[13]) then
  return { 'EARLY', string.format('%.0f', tonumber(ARGV[10]) - now) }
end
local overlaps = has_run and ARGV[7] == 'skip' and redis.call('ZCOUNT', KEYS[3], string.format('(%.0f', now), '+inf') > 0
local written_at = string.format('%.0f', now)
local look_at = string.format('%.0f', now + tonumber(ARGV[14]))

redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'term', ARGV[2], 'generation', ARGV[4], 'cursor', ARGV[9])
for i = 1, tonumber(ARGV[16]) do
  local after, through, reason = ARGV[3 * i + 14], ARGV[3 * i + 15], ARGV[3 * i + 16]
  redis.call('ZADD', KEYS[6], through, table.concat({ after, through, reason }, ','))
end
if not has_run then
  redis.call('HSET', KEYS[1], 'recordNonce', ARGV[5])
  return { 'RECORDED' }
end

redis.call('ZADD', KEYS[2], ARGV[9], ARGV[8])
redis.call('HSET', KEYS[7], 'id', ARGV[8], 'scheduledAt', ARGV[9], 'dueAt', ARGV[10], 'reason', ARGV[11],
  'missed', ARGV[12], 'overlap', ARGV[7], 'generation', ARGV[4], 'claimFence', ARGV[1], 'claimedBy', ARGV[3],
  'claimNonce', ARGV[5], 'claimedAt', written_at, 'attempt', '0')
if overlaps then
  redis.call('HSET', KEYS[7], 'state', 'skipped', 'skipped', 'overlap', 'delivery', '0', 'finishedAt', written_at)
  redis.call('PEXPIRE', KEYS[7], ARGV[15])
  return { 'SKIPPED', 'overlap' }
end
redis.call('HSET', KEYS[7], 'state', 'claimed', 'delivery', '1')
redis.call('ZADD', KEYS[3], '+inf', ARGV[8])
redis.call('ZADD', KEYS[4], look_at, ARGV[8])
redis.call('ZADD', KEYS[5], ARGV[9], ARGV[8])
return { 'CLAIMED' }
