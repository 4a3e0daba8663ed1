-- Raises the highest format that a deployment has ever written. Never lowers it: two processes may see different members.
--
-- KEYS[1]  the highest format ever written by all
-- ARGV[1]  format
-- Returns  the highest format
local highest = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[1]))
local written = string.format('%.0f', highest)
redis.call('SET', KEYS[1], written)
return written
