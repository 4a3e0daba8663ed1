-- Extends the run lease of the current attempt.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  open runs
-- KEYS[4]  watch list
-- ARGV[1]  fence, decimal
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  run id
-- ARGV[4]  length of the run lease, ms
-- Returns  {'EXTENDED'} | {'STALE'}
--
-- An expired lease isn't revived: a successor may have been let in on the strength of its end.
-- @include check-attempt
-- @include server-time
if not current or tonumber(run[4]) <= now then
  redis.call('HINCRBY', KEYS[1], 'refusals', 1)
  return { 'STALE' }
end
local lease_until = string.format('%.0f', now + tonumber(ARGV[4]))
redis.call('HSET', KEYS[2], 'leaseUntil', lease_until, 'leaseMs', ARGV[4])
redis.call('ZADD', KEYS[3], lease_until, ARGV[3])
redis.call('ZADD', KEYS[4], lease_until, ARGV[3])
return { 'EXTENDED' }
