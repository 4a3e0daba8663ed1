-- Ends the current attempt: the run succeeds, fails, was cancelled, or waits for its next attempt.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  open runs
-- KEYS[4]  watch list
-- KEYS[5]  effects of the run
-- ARGV[1]  fence, decimal
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  run id
-- ARGV[4]  outcome: succeeded | failed | cancelled | retry
-- ARGV[5]  error text, or empty
-- ARGV[6]  delay before the next attempt, ms
-- ARGV[7]  look again after, ms
-- ARGV[8]  keep a finished run for, ms
-- Returns  {'FINISHED', state} | {'STALE'}
-- @include end-run
-- @include check-attempt
if not current then
  local earlier = redis.call('HMGET', KEYS[2], 'finishNonce', 'finishState')
  if earlier[1] == ARGV[2] then return { 'FINISHED', earlier[2] } end
  redis.call('HINCRBY', KEYS[1], 'refusals', 1)
  return { 'STALE' }
end
-- @include server-time
local state = ARGV[4]
-- Who failed before it heard that it was to stop is not tried again.
if state == 'retry' then state = stop_by and 'cancelled' or 'enqueued' end

local written = { 'state', state, 'error', ARGV[5], 'finishNonce', ARGV[2], 'finishState', state }
if over[state] then
  local keys = { run = KEYS[2], effects = KEYS[5], sets = { KEYS[3], KEYS[4] } }
  end_run(ARGV[3], keys, ARGV[8], 'finishedAt', string.format('%.0f', now), unpack(written))
else
  local not_before = now + tonumber(ARGV[6])
  redis.call('HSET', KEYS[2], 'notBefore', string.format('%.0f', not_before), unpack(written))
  redis.call('ZADD', KEYS[3], '+inf', ARGV[3])
  redis.call('ZADD', KEYS[4], string.format('%.0f', not_before + tonumber(ARGV[7])), ARGV[3])
end
return { 'FINISHED', state }
