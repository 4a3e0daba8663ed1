-- Counts a change, and hints at it.
--
-- The count is never below the clock, in microseconds: that of a catalog that was lost would else come past a number that a
-- pod knows already, and the pod would believe that it has read it.
-- The first change of all is the birth of the catalog. It is kept, because a catalog that was lost is born again: what came due
-- before is to be made up for.
local function announce_change(version_key, born_key, channel)
  local version = redis.call('INCR', version_key)
  if version == 1 then redis.call('SET', born_key, string.format('%.0f', now)) end
  local clock = tonumber(server_time[1]) * 1000000 + tonumber(server_time[2])
  if version < clock then
    version = clock
    redis.call('SET', version_key, string.format('%.0f', version))
  end
  redis.call('PUBLISH', channel, string.format('%.0f', version))
end
