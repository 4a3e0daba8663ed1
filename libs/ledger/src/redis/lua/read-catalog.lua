-- Reads some crons of the catalog, as of one moment of the store's clock.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  version of the catalog
-- KEYS[4]  when its first change was accepted
-- ARGV[i]  name of a cron
-- Returns  {version, epoch ms, {name, generations, ...}, {name, declared, ...}, born, epoch ms, or empty}
-- @include lease/server-time
-- @include read-fields
local names = {}
for i = 1, #ARGV do names[i] = ARGV[i] end
return { redis.call('GET', KEYS[3]) or '0', string.format('%.0f', now), read_fields(KEYS[1], names), read_fields(KEYS[2], names),
  redis.call('GET', KEYS[4]) or '' }
