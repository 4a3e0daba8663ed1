-- Counts a change, remembers which crons it is about, and announces it.
--
-- The count is never below the clock, in microseconds: a lost catalog would otherwise reach a number that a
-- pod knows already, and the pod would not read it.
-- The time of the very first change is kept as the catalog's birth: a lost catalog is born again, and instants that came due
-- before must be made up for.
-- The changes are a stream of the last 20,000 (see catalog.ts) whose ids are versions, one entry a cron. It begins anew where
-- its newest entry isn't of the version before: an earlier build changed the catalog and noted nothing.
local function announce_change(keys, names, channel)
  local newest = redis.call('XREVRANGE', keys.changes, '+', '-', 'COUNT', '1')[1]
  if newest and string.match(newest[1], '^%d+') ~= redis.call('GET', keys.version) then redis.call('DEL', keys.changes) end
  local version = redis.call('INCR', keys.version)
  if version == 1 then redis.call('SET', keys.born, string.format('%.0f', now)) end
  local clock = tonumber(server_time[1]) * 1000000 + tonumber(server_time[2])
  if version < clock then
    version = clock
    redis.call('SET', keys.version, string.format('%.0f', version))
  end
  version = string.format('%.0f', version)
  for i, name in ipairs(names) do
    redis.call('XADD', keys.changes, 'MAXLEN', '~', '20000', string.format('%s-%d', version, i), 'c', name)
  end
  redis.call('PUBLISH', channel, '2 ' .. version)
end
