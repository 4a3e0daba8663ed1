-- Records that the queue has taken claimed runs.
--
-- Each run has three keys, the first of them at k.
-- KEYS[k]  the run
-- KEYS[k + 1]  pending runs of its cron
-- KEYS[k + 2]  watch list of its cron
-- ARGV[1]  look again after, ms
-- ARGV[1 + i]  id of the i-th run
-- Returns  how many were not confirmed before
--
-- A worker may have begun, or finished, a run before this arrives: beginning it removes it from the pending runs.
-- @include lease/server-time
local call, confirmed = redis.call, 0
local written_at, look_at = string.format('%.0f', now), string.format('%.0f', now + tonumber(ARGV[1]))
for k = 1, #KEYS, 3 do
  local i = (k + 2) / 3
  local id = ARGV[1 + i]
  if call('ZREM', KEYS[k + 1], id) == 1 then
    call('HSET', KEYS[k], 'state', 'enqueued', 'enqueuedAt', written_at)
    -- A run that is not due yet is checked no sooner than a due one.
    local not_before = tonumber(call('HGET', KEYS[k], 'notBefore') or '') or 0
    local look = not_before > now and string.format('%.0f', not_before + tonumber(ARGV[1])) or look_at
    call('ZADD', KEYS[k + 2], look, id)
    confirmed = confirmed + 1
  end
end
return confirmed
