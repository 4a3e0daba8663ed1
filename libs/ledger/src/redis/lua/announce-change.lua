-- Counts a change, and announces it.
--
-- The count is never below the clock, in microseconds: a lost catalog would otherwise reach a number that a
-- pod knows already, and the pod would not read it.
-- The time of the very first change is kept as the catalog's birth: a lost catalog is born again, and instants that came due
-- before must be made up for.
local function announce_change(version_key, born_key, channel)
  local version = redis.call('INCR', version_key)
  if version == 1 then redis.call('SET', born_key, string.format('%.0f', now)) end
  local clock = tonumber(server_time[1]) * 1000000 + tonumber(server_time[2])
  if version < clock then
    version = clock
    redis.call('SET', version_key, string.format('%.0f', version))
  end
  redis.call('PUBLISH', channel, '2 ' .. string.format('%.0f', version))
end
