-- Writes a row unless a holder with a larger fence has written it, or the same write was accepted before.
--
-- KEYS[1]  the row
-- KEYS[2]  idempotency keys accepted by the table, by time
-- KEYS[3]  journal of accepted writes
-- KEYS[4]  record of the table
-- ARGV[1]  fence, decimal
-- ARGV[2]  idempotency key
-- ARGV[3]  name of the row
-- ARGV[4]  value
-- ARGV[5]  how many idempotency keys and journal entries to keep
-- Returns  {'WRITTEN'} | {'REPEATED'} | {'STALE', fence}
--
-- The fence keeps a stale writer out, the key keeps a repetition out: neither replaces the other.
-- @include compare-fences
local keep = checkNumber('how many to keep', ARGV[5], 1)

if redis.call('ZSCORE', KEYS[2], ARGV[2]) then
  redis.call('HINCRBY', KEYS[4], 'repeated', 1)
  return { 'REPEATED' }
end
local seen = redis.call('HGET', KEYS[1], 'fence')
if isStale(ARGV[1], seen) then
  redis.call('HINCRBY', KEYS[4], 'refused', 1)
  return { 'STALE', seen }
end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'value', ARGV[4])
redis.call('ZADD', KEYS[2], string.format('%.0f', tonumber(time[1]) * 1000000 + tonumber(time[2])), ARGV[2])
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -(keep + 1))
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[5], '*', 'row', ARGV[3], 'key', ARGV[2], 'fence', ARGV[1])
return { 'WRITTEN' }
