-- Allows the current attempt to carry out an effect, or returns what was recorded of it.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  effects of the run
-- ARGV[1]  fence, decimal
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  name of the effect
-- Returns  {'GO'} | {'GO_UNKNOWN'} | {'DONE', result} | {'STALE'}
--
-- The fence that began an effect first is kept for good: every later attempt that finds it knows that the outcome is
-- unknown, and is told so again when its reply got lost and it repeats the call.
-- @include check-attempt
-- @include server-time
if not current or tonumber(run[4]) <= now then
  redis.call('HINCRBY', KEYS[1], 'refusals', 1)
  return { 'STALE' }
end
local name = ARGV[3]
local effect = redis.call('HMGET', KEYS[3], 'done/' .. name, 'first/' .. name)
if effect[1] then return { 'DONE', effect[1] } end
redis.call('HSETNX', KEYS[3], 'first/' .. name, ARGV[1])
redis.call('HSET', KEYS[3], 'begun/' .. ARGV[1] .. '/' .. name, ARGV[2])
if effect[2] and effect[2] ~= ARGV[1] then return { 'GO_UNKNOWN' } end
return { 'GO' }
