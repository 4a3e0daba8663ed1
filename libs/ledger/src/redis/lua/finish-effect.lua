-- Records how an effect ended: done with its result, or failed.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- ARGV[1]  fence, decimal
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  name of the effect
-- ARGV[4]  how it ended: done | failed
-- ARGV[5]  result as JSON, or the error
-- Returns  {'RECORDED'} | {'LATE'} | {'KNOWN'} | {'STALE'}
--
-- A done is a fact about the world. It is kept also from a stale attempt, if that attempt was once allowed to begin the
-- effect, and it is never overwritten. A failed is the word of the current attempt alone: another one may have begun since.
-- @include check-attempt
-- @include effect-record
local name = ARGV[3]
local effect = read_effect(KEYS[2], name)
local done = effect.state == 'done'
if done and (effect.by ~= ARGV[1] or ARGV[4] == 'failed') then return { 'KNOWN' } end
if not current then
  redis.call('HINCRBY', KEYS[1], 'refusals', 1)
  if ARGV[4] == 'failed' then return { 'STALE' } end
  if redis.call('HGET', KEYS[2], 'b/' .. ARGV[1] .. '/' .. name) ~= ARGV[2] then return { 'STALE' } end
end
if not done then
  end_effect(KEYS[2], effect, { state = ARGV[4], by = ARGV[1], at = string.format('%.0f', now), text = ARGV[5] })
end
if current then return { 'RECORDED' } end
return { 'LATE' }
