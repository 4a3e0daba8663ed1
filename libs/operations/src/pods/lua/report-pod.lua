-- Notes what a pod says of itself, and answers the store's clock.
--
-- KEYS[1]  cards, by pod
-- KEYS[2]  pods, by when each was heard
-- ARGV[1]  pod
-- ARGV[2]  its card
-- ARGV[3]  gone after, ms
-- Returns  now, in microseconds
--
-- Whoever reports removes who is gone: nobody else would, and the list would grow with every restart.
-- @include lease/server-time
local at = string.format('%.0f', now)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], at, ARGV[1])
-- A clock that went back would keep the dead among the living until it has caught up.
for _, pod in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. at, '+inf')) do
  redis.call('ZADD', KEYS[2], at, pod)
end
local latest = string.format('%.0f', now - tonumber(ARGV[3]))
for _, pod in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', latest)) do
  redis.call('ZREM', KEYS[2], pod)
  redis.call('HDEL', KEYS[1], pod)
end
-- When the last of them is killed, nobody is left to tidy up.
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return string.format('%.0f', tonumber(server_time[1]) * 1000000 + tonumber(server_time[2]))
