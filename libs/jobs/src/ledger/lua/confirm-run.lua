-- Notes that the queue has taken a claimed run.
--
-- KEYS[1]  the run
-- KEYS[2]  pending runs
-- KEYS[3]  watch list
-- ARGV[1]  run id
-- ARGV[2]  look again after, ms
-- Returns  {'CONFIRMED'} | {'ALREADY'}
--
-- A worker may have begun, or finished, the run before this arrives; then only the pending entry is left to remove.
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('HGET', KEYS[1], 'state') ~= 'claimed' then return { 'ALREADY' } end
-- @include server-time
redis.call('HSET', KEYS[1], 'state', 'enqueued', 'enqueuedAt', string.format('%.0f', now))
redis.call('ZADD', KEYS[3], string.format('%.0f', now + tonumber(ARGV[2])), ARGV[1])
return { 'CONFIRMED' }
