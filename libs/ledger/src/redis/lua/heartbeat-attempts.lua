-- Extends the run leases of many current attempts, and says of each whether it was cancelled.
--
-- Each attempt has two keys, the first of them at k, and three arguments, the first of them at a. The other keys of its cron
-- are found beside the cron record; on a cluster, where a call is about one run, they follow as well: a server that is
-- moving them refuses the call before anything is written.
-- KEYS[k]  cron record
-- KEYS[k + 1]  the run
-- ARGV[a]  fence, decimal
-- ARGV[a + 1]  nonce of the attempt
-- ARGV[a + 2]  length of the run lease, ms
-- Returns  per attempt 'EXTENDED' | 'CANCELLED' | 'STALE' | {'BROKEN', what failed}
--
-- An expired lease isn't revived: a successor may have been let in on the strength of its end. The lease of a run that was
-- cancelled ends with its grace at the latest, so that nothing waits for the worker longer than that.
-- @include lease/server-time
-- @include find-cron
-- @include run-record
-- @include read-attempt
-- @include isolate-failure
local KEYS, ARGV, call = KEYS, ARGV, redis.call

local function beat(k, a)
  local cron, key = find_cron(KEYS[k]), KEYS[k + 1]
  local run, current = read_attempt(key, id_of(cron, key), ARGV[a], ARGV[a + 1])
  if not current or has_expired(cron, run) then
    call('HINCRBY', cron.record, 'refusals', 1)
    return 'STALE'
  end
  local lease_ms, times = string.match(run.latest, '^%d+ (%d+)( .*)$')
  if lease_ms ~= ARGV[a + 2] then call('HSET', key, 'r', ARGV[a] .. ' ' .. ARGV[a + 2] .. times) end
  local stop_by = run.cancel_until
  call('ZADD', cron.open, string.format('%.0f', math.min(now + tonumber(ARGV[a + 2]), stop_by or math.huge)), run.id)
  return stop_by and 'CANCELLED' or 'EXTENDED'
end

local replies = {}
for n = 1, #ARGV / 3 do replies[n] = isolate_failure(beat, 2 * n - 1, 3 * n - 2) end
return replies
