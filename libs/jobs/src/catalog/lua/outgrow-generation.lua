-- Begins a generation of a cron above one that a ledger has accepted, unless it has one that is not below it.
--
-- KEYS[1]  catalog of the tenant
-- ARGV[1]  name of the cron
-- ARGV[2]  the generation accepted by the ledger
-- ARGV[3]  channel to announce a change on
-- Returns  {'OUTGROWN', generation} | {'FINE'}
--
-- Generations are counted and not taken from the clock, so a catalog that was lost would issue the same ones again.
local field = 'generation/' .. ARGV[1]
local known, accepted = tonumber(redis.call('HGET', KEYS[1], field) or '0'), tonumber(ARGV[2])
if known == 0 or known >= accepted then return { 'FINE' } end
local generation = string.format('%.0f', accepted + 1)
redis.call('HSET', KEYS[1], field, generation)
redis.call('PUBLISH', ARGV[3], generation)
return { 'OUTGROWN', generation }
