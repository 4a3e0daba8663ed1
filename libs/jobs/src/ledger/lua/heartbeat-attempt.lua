-- Extends the run lease of the current attempt, and says whether somebody wants it to stop.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  open runs
-- KEYS[4]  watch list
-- ARGV[1]  fence, decimal
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  run id
-- ARGV[4]  length of the run lease, ms
-- Returns  {'EXTENDED'} | {'CANCELLED'} | {'STALE'}
--
-- An expired lease isn't revived: a successor may have been let in on the strength of its end. That of a run which was
-- told to stop ends with its grace at the latest, so that whatever waits for a worker's end waits no longer.
-- @include check-attempt
-- @include server-time
if not current or tonumber(run[4]) <= now then
  redis.call('HINCRBY', KEYS[1], 'refusals', 1)
  return { 'STALE' }
end
local lease_until = string.format('%.0f', math.min(now + tonumber(ARGV[4]), stop_by or math.huge))
redis.call('HSET', KEYS[2], 'leaseUntil', lease_until, 'leaseMs', ARGV[4])
redis.call('ZADD', KEYS[3], lease_until, ARGV[3])
redis.call('ZADD', KEYS[4], lease_until, ARGV[3])
return { stop_by and 'CANCELLED' or 'EXTENDED' }
