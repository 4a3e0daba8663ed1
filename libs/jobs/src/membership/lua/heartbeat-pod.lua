-- Records the heartbeat of a pod; returns the members, the overdue crons and the version of the catalog, and the lowest format.
--
-- KEYS[1]  pods, by when each was last heard
-- KEYS[2]  crons, by when the next instant of each is due
-- KEYS[3]  when any pod was last heard
-- KEYS[4]  version of the catalog
-- KEYS[5]  processes, by when each was last heard
-- KEYS[6]  the format of each
-- KEYS[7]  the highest format ever written by all
-- KEYS[8]  the weights of pods, without those that have the usual one
-- ARGV[1]  pod
-- ARGV[2]  gone after, ms
-- ARGV[3]  overdue after, ms
-- ARGV[4]  how many overdue crons at most
-- ARGV[5]  format of the pod
-- ARGV[6]  weight of the pod, or nothing for the usual one
-- Returns  {now, version of the catalog, pods with the time since each was heard, crons with the time each is overdue, {pod, format}
--          of the lowest format, pods with their weights} | {'REFUSED', the highest format}
--
-- Each heartbeat removes dead pods: the list would grow with every restart.
-- @include lease/server-time
-- @include announce-format
local keys = { pods = KEYS[1], writers = KEYS[5], formats = KEYS[6], highest = KEYS[7] }
local lowest, highest = announce_format(keys, ARGV[1], tonumber(ARGV[5]), tonumber(ARGV[2]))
if not lowest then return { 'REFUSED', string.format('%.0f', highest) } end
local at = string.format('%.0f', now)
redis.call('ZADD', KEYS[1], at, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - tonumber(ARGV[2])))
-- After a clock went back, dead pods would stay members until it has caught up.
local ahead = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. at, '+inf')
for _, pod in ipairs(ahead) do
  redis.call('ZADD', KEYS[1], at, pod)
end
redis.call('SET', KEYS[3], at)
if ARGV[6] == '' then redis.call('HDEL', KEYS[8], ARGV[1]) else redis.call('HSET', KEYS[8], ARGV[1], ARGV[6]) end
for _, pod in ipairs(redis.call('HKEYS', KEYS[8])) do
  if not redis.call('ZSCORE', KEYS[1], pod) then redis.call('HDEL', KEYS[8], pod) end
end

local function since(entries)
  for index = 2, #entries, 2 do
    entries[index] = string.format('%.0f', now - tonumber(entries[index]))
  end
  return entries
end

local latest = string.format('%.0f', now - tonumber(ARGV[3]))
local overdue = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', latest, 'WITHSCORES', 'LIMIT', '0', ARGV[4])
local pods = redis.call('ZRANGE', KEYS[1], '0', '-1', 'WITHSCORES')
return { at, redis.call('GET', KEYS[4]) or '0', since(pods), since(overdue), lowest, redis.call('HGETALL', KEYS[8]) }
