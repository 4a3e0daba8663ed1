-- Ends the current attempt: the run succeeds, fails, or waits for its next attempt.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  open runs
-- KEYS[4]  watch list
-- KEYS[5]  effects of the run
-- ARGV[1]  fence, decimal
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  run id
-- ARGV[4]  outcome: succeeded | failed | retry
-- ARGV[5]  error text, or empty
-- ARGV[6]  delay before the next attempt, ms
-- ARGV[7]  look again after, ms
-- ARGV[8]  keep a finished run for, ms
-- Returns  {'FINISHED', state} | {'STALE'}
-- @include check-attempt
if not current then
  local earlier = redis.call('HMGET', KEYS[2], 'finishNonce', 'finishState')
  if earlier[1] == ARGV[2] then return { 'FINISHED', earlier[2] } end
  redis.call('HINCRBY', KEYS[1], 'refusals', 1)
  return { 'STALE' }
end
-- @include server-time
local state = ARGV[4]
if state == 'retry' then state = 'enqueued' end
local not_before = now + tonumber(ARGV[6])
local look_at = string.format('%.0f', not_before + tonumber(ARGV[7]))

redis.call('HSET', KEYS[2], 'state', state, 'error', ARGV[5], 'finishNonce', ARGV[2], 'finishState', state)
if state == 'enqueued' then
  redis.call('HSET', KEYS[2], 'notBefore', string.format('%.0f', not_before))
  redis.call('ZADD', KEYS[3], '+inf', ARGV[3])
  redis.call('ZADD', KEYS[4], look_at, ARGV[3])
else
  redis.call('HSET', KEYS[2], 'finishedAt', string.format('%.0f', now))
  redis.call('ZREM', KEYS[3], ARGV[3])
  redis.call('ZREM', KEYS[4], ARGV[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[8])
  redis.call('PEXPIRE', KEYS[5], ARGV[8])
end
return { 'FINISHED', state }
