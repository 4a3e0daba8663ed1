-- Reads everything, as of one moment of the store's clock.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  version of the catalog
-- Returns  {version, epoch ms, {name, generations, ...}, {name, declared, ...}}
-- @include server-time
local version = redis.call('GET', KEYS[3]) or '0'
return { version, string.format('%.0f', now), redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }
