-- Records why a run waits; the next attempt clears it.
--
-- KEYS[1]  the run
-- ARGV[1]  why it waits
-- Returns  {'NOTED'} | {'LEFT'}
local state = redis.call('HGET', KEYS[1], 'state')
if state ~= 'claimed' and state ~= 'enqueued' and state ~= 'orphaned' then return { 'LEFT' } end
redis.call('HSET', KEYS[1], 'waiting', ARGV[1])
return { 'NOTED' }
