-- Allows the current attempt to carry out an effect, or returns its record.
-- Its arguments and replies are those of redis-attempt-codec.ts.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- ARGV[1]  fence, decimal
-- ARGV[2]  nonce of the attempt
-- ARGV[3]  name of the effect
-- ARGV[4]  when its outcome is unknown: go | tell
-- ARGV[5]  hash of what it sends, or empty
-- Returns  {'GO'} | {'GO_UNKNOWN', since, ms, hash} | {'UNKNOWN', since, ms, hash} | {'DONE', result, hash} | {'STALE'}
--
-- After these keys come the open runs of the cron, which read-attempt finds by itself.
-- The fence that began an effect first is kept until it fails: a later attempt that finds it knows that the outcome is
-- unknown, and gets the same answer when it repeats the call after a lost reply. UNKNOWN has written nothing: the request
-- asked for that, or its payload differs under the same idempotency key.
-- @include check-attempt
-- @include effect-record
if not current or has_expired(cron, run) then
  redis.call('HINCRBY', KEYS[1], 'refusals', 1)
  return { 'STALE' }
end
local name = ARGV[3]
local effect = read_effect(KEYS[2], name)
if effect.state == 'done' then return { 'DONE', redis.call('HGET', KEYS[2], 'r/' .. name), effect.hash } end
local may = { 'b/' .. ARGV[1] .. '/' .. name, ARGV[2] }
if effect.state == 'begun' then
  if effect.first == ARGV[1] then return { 'GO' } end
  local changed = ARGV[5] ~= '' and effect.hash ~= '' and ARGV[5] ~= effect.hash
  local tell = changed or ARGV[4] == 'tell'
  if not tell then redis.call('HSET', KEYS[2], unpack(may)) end
  local age = string.format('%.0f', math.max(0, now - tonumber(effect.since)))
  return { tell and 'UNKNOWN' or 'GO_UNKNOWN', effect.since, age, effect.hash }
end
effect.state, effect.since, effect.first = 'begun', string.format('%.0f', now), ARGV[1]
effect.took, effect.by = '', '0'
if effect.hash ~= ARGV[5] then redis.call('HSET', KEYS[2], 'h/' .. name, ARGV[5]) end
write_effect(KEYS[2], effect, unpack(may))
return { 'GO' }
