-- Removes a pod that ends, and records that its revision was live until now.
--
-- KEYS[1]  cards, by pod
-- KEYS[2]  pods, by last report
-- KEYS[3]  states, by pod
-- KEYS[4]  pods with a state, by last report
-- KEYS[5]  revisions, by last report of a pod that declares them
-- KEYS[6]  registry: how often its pods have changed
-- ARGV[1]  pod
-- Returns  whether it was listed, 1 or 0
-- @include lease/server-time
local revision = string.match(redis.call('HGET', KEYS[3], ARGV[1]) or '', '^[^\n]*')
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('ZREM', KEYS[4], ARGV[1]) == 0 then
  return 0
end
-- The keys of a pod that has reported exist, with an end of their own.
if revision ~= '' then
  redis.call('ZADD', KEYS[5], 'XX', string.format('%.0f', now), revision)
end
if redis.call('EXISTS', KEYS[6]) == 1 then
  redis.call('HINCRBY', KEYS[6], 'change', 1)
end
return 1
