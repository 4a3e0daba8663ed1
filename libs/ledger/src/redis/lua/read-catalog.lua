-- Reads everything, as of one moment of the store's clock.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  version of the catalog
-- KEYS[4]  when its first change was accepted
-- Returns  {version, epoch ms, {name, generations, ...}, {name, declared, ...}, born, epoch ms, or empty}
-- @include lease/server-time
local version = redis.call('GET', KEYS[3]) or '0'
local born = redis.call('GET', KEYS[4]) or ''
return { version, string.format('%.0f', now), redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]), born }
