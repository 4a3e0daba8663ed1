-- Records that an effect is done, with its result.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  effects of the run
-- ARGV[1]  fence, decimal
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  name of the effect
-- ARGV[4]  result, JSON
-- Returns  {'RECORDED'} | {'LATE'} | {'KNOWN'} | {'STALE'}
--
-- A done is a fact about the world. It is kept also from a stale attempt, if that attempt was once allowed to begin the
-- effect, and it is never overwritten.
-- @include check-attempt
local name = ARGV[3]
local begun = 'begun/' .. ARGV[1] .. '/' .. name
local effect = redis.call('HMGET', KEYS[3], 'done/' .. name, 'by/' .. name, begun)
if effect[1] and effect[2] ~= ARGV[1] then return { 'KNOWN' } end
if not current then
  redis.call('HINCRBY', KEYS[1], 'refusals', 1)
  if effect[3] ~= ARGV[2] then return { 'STALE' } end
end
if not effect[1] then redis.call('HSET', KEYS[3], 'done/' .. name, ARGV[4], 'by/' .. name, ARGV[1]) end
if current then return { 'RECORDED' } end
return { 'LATE' }
