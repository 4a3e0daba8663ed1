-- Cancels a run that no worker executes; asks a running one to stop, within a grace period.
-- Its arguments and replies are those of redis-operator-codec.ts.
--
-- KEYS[1]  the run
-- KEYS[2]  open runs
-- KEYS[3]  watch list
-- KEYS[4]  pending runs
-- KEYS[5]  effects of the run
-- KEYS[6]  uncertain runs
-- ARGV[1]  run id
-- ARGV[2]  name of the operator
-- ARGV[3]  how long a worker may go on, ms
-- ARGV[4]  keep a finished run for, ms
-- Returns  {'CANCELLED'} | {'CANCELLING', until} | {'TERMINAL', state} | {'MISSING'}
--
-- After these keys come the items of the run, which end-run finds by itself. A second order gets the answer of the
-- first, and can only bring the end forward. The run lease ends with the grace: whatever waits for the worker's end handles
-- the rest.
-- @include end-run
local run = redis.call('HMGET', KEYS[1], 'state', 'leaseUntil', 'cancelUntil')
local state, told = run[1], tonumber(run[3] or '')
if not state then return { 'MISSING' } end
if state == 'cancelled' then return { 'CANCELLED' } end
if over[state] then return { 'TERMINAL', state } end
-- @include lease/server-time
local at, stop_by = string.format('%.0f', now), string.format('%.0f', now + tonumber(ARGV[3]))
if state ~= 'running' or tonumber(run[2]) <= now then
  if not told then redis.call('HSET', KEYS[1], 'cancelAt', at, 'cancelBy', ARGV[2], 'cancelUntil', at) end
  local keys = { run = KEYS[1], effects = KEYS[5], sets = { KEYS[2], KEYS[3], KEYS[4], KEYS[6] } }
  end_run(ARGV[1], keys, ARGV[4], 'state', 'cancelled', 'finishedAt', at, 'question', '')
  return { 'CANCELLED' }
end
if told and told <= tonumber(stop_by) then return { 'CANCELLING', run[3] } end
local lease_until = string.format('%.0f', math.min(tonumber(run[2]), tonumber(stop_by)))
if not told then redis.call('HSET', KEYS[1], 'cancelAt', at, 'cancelBy', ARGV[2]) end
redis.call('HSET', KEYS[1], 'cancelUntil', stop_by, 'leaseUntil', lease_until)
redis.call('ZADD', KEYS[2], lease_until, ARGV[1])
redis.call('ZADD', KEYS[3], lease_until, ARGV[1])
return { 'CANCELLING', stop_by }
