-- Cancels a run that no worker executes; asks a running one to stop, within a grace period.
-- Its arguments and replies are those of redis-operator-codec.ts.
--
-- KEYS[1]  cron record
-- KEYS[2]  the run
-- KEYS[3]  open runs
-- ARGV[1]  name of the operator
-- ARGV[2]  how long a worker may go on, ms
-- ARGV[3]  keep a finished run for, ms
-- Returns  {'CANCELLED'} | {'CANCELLING', until} | {'TERMINAL', state} | {'MISSING'}
--
-- After these keys come the uncertain runs, the items of the run and whether the cron is noted, which end-run finds by itself.
-- A second order gets the answer of the first, and can only bring the end forward. The run lease ends with the grace: whatever
-- waits for the worker's end handles the rest.
-- @include lease/server-time
-- @include find-cron
-- @include end-run
local cron = find_cron(KEYS[1])
local run = read_run(KEYS[2], id_of(cron, KEYS[2]))
if not run then return { 'MISSING' } end
if run.state == 'cancelled' then return { 'CANCELLED' } end
if over[run.state] then return { 'TERMINAL', run.state } end
local at, stop_by, told = string.format('%.0f', now), now + tonumber(ARGV[2]), run.cancel_until
local lease_until = tonumber(redis.call('ZSCORE', KEYS[3], run.id) or '') or 0
if run.state ~= 'running' or lease_until <= now then
  if not told then redis.call('HSET', KEYS[2], 'cancel', table.concat({ at, at, ARGV[1] }, ' ')) end
  redis.call('HDEL', KEYS[2], 'question')
  end_run(cron, run, ARGV[3], 'cancelled')
  return { 'CANCELLED' }
end
if told and told <= stop_by then return { 'CANCELLING', string.format('%.0f', told) } end
local first_at, _, by = string.match(redis.call('HGET', KEYS[2], 'cancel') or '', '^(%d+) (%d+) (.*)$')
local stop = string.format('%.0f', stop_by)
redis.call('HSET', KEYS[2], 'cancel', table.concat({ first_at or at, stop, by or ARGV[1] }, ' '))
redis.call('ZADD', KEYS[3], string.format('%.0f', math.min(lease_until, stop_by)), run.id)
return { 'CANCELLING', stop }
