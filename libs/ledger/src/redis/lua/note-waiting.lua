-- Records why a run waits; the next attempt clears it.
--
-- KEYS[1]  the run
-- ARGV[1]  why it waits
-- Returns  {'NOTED'} | {'LEFT'}
-- @include run-record
local run = read_run(KEYS[1], '')
if not run or not (run.state == 'claimed' or run.state == 'enqueued' or run.state == 'orphaned') then return { 'LEFT' } end
redis.call('HSET', KEYS[1], 'waiting', ARGV[1])
return { 'NOTED' }
