-- Reads the lowest format of the processes that live. Writes nothing: for a process that only asks before it writes.
--
-- KEYS[1]  pods, by when each was last heard
-- KEYS[2]  processes, by when each was last heard
-- KEYS[3]  the format of each
-- KEYS[4]  the highest format ever written by all
-- ARGV[1]  format of this process
-- ARGV[2]  gone after, ms
-- Returns  {'LOWEST', process, format}, both empty where none lives | {'REFUSED', the highest format}
-- @include lease/server-time
local highest = tonumber(redis.call('GET', KEYS[4]) or '0')
if tonumber(ARGV[1]) + 1 < highest then return { 'REFUSED', string.format('%.0f', highest) } end
local alive = string.format('(%.0f', now - tonumber(ARGV[2]))
for _, pod in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], alive, '+inf')) do
  if not redis.call('ZSCORE', KEYS[3], pod) then return { 'LOWEST', pod, '2' } end
end
local formats = redis.call('ZRANGE', KEYS[3], '0', '-1', 'WITHSCORES')
for i = 1, #formats, 2 do
  local heard = tonumber(redis.call('ZSCORE', KEYS[2], formats[i]) or '0')
  if heard > now - tonumber(ARGV[2]) then return { 'LOWEST', formats[i], formats[i + 1] } end
end
return { 'LOWEST', '', '' }
