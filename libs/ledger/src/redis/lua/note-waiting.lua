-- Records why a run waits, or that the reason is gone; the next attempt clears it.
--
-- KEYS[1]  the run
-- ARGV[1]  why it waits, or empty
-- Returns  {'NOTED'} | {'LEFT'}
-- @include run-record
local run = read_run(KEYS[1], '')
if not run or not (run.state == 'claimed' or run.state == 'enqueued' or run.state == 'orphaned') then return { 'LEFT' } end
if ARGV[1] == '' then redis.call('HDEL', KEYS[1], 'waiting') else redis.call('HSET', KEYS[1], 'waiting', ARGV[1]) end
return { 'NOTED' }
