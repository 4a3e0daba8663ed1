-- Notes that a pod is there, and answers who else is, which crons are overdue, and how far the catalog is.
--
-- KEYS[1]  pods, by when each was last heard
-- KEYS[2]  crons, by when the next instant of each is due
-- KEYS[3]  when any pod was last heard
-- KEYS[4]  version of the catalog
-- ARGV[1]  pod
-- ARGV[2]  gone after, ms
-- ARGV[3]  overdue after, ms
-- ARGV[4]  how many overdue crons at most
-- Returns  now, version of the catalog, pods with the time since each was heard, crons with the time each is overdue
--
-- Whoever beats removes who is gone: nobody else would, and the list would grow with every restart.
-- @include lease/server-time
local at = string.format('%.0f', now)
redis.call('ZADD', KEYS[1], at, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - tonumber(ARGV[2])))
-- A clock that went back would keep the dead among the living until it has caught up.
local ahead = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. at, '+inf')
for _, pod in ipairs(ahead) do
  redis.call('ZADD', KEYS[1], at, pod)
end
redis.call('SET', KEYS[3], at)

local function since(entries)
  for index = 2, #entries, 2 do
    entries[index] = string.format('%.0f', now - tonumber(entries[index]))
  end
  return entries
end

local latest = string.format('%.0f', now - tonumber(ARGV[3]))
local overdue = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', latest, 'WITHSCORES', 'LIMIT', '0', ARGV[4])
local pods = redis.call('ZRANGE', KEYS[1], '0', '-1', 'WITHSCORES')
return { at, redis.call('GET', KEYS[4]) or '0', since(pods), since(overdue) }
