-- Records that the queue has taken claimed runs.
--
-- Each run has two keys, the first of them at k.
-- KEYS[k]  the run
-- KEYS[k + 1]  open runs of its cron
-- ARGV[1]  look again after, ms
-- ARGV[1 + i]  id of the i-th run
-- Returns  how many were not confirmed before
--
-- A worker may have begun, or finished, a run before this arrives: then it is not claimed any more.
-- @include lease/server-time
-- @include run-record
-- @include open-runs
local call, confirmed, again = redis.call, 0, tonumber(ARGV[1])
for k = 1, #KEYS, 2 do
  local i = (k + 1) / 2
  local id = ARGV[1 + i]
  local found = call('HMGET', KEYS[k], 'c', 's')
  if string.find(found[2] or '', '^%d+ c ') then
    local run = unpack_run(KEYS[k], id, found[1], found[2])
    run.state = 'enqueued'
    call('HSET', run.key, 's', state_text(run), 'q', since_due(run, now))
    -- A run that is not due yet is checked no sooner than a due one.
    local due = run.not_before == '' and now or math.max(now, run.since + tonumber(run.not_before))
    call('ZADD', KEYS[k + 1], score_of(1, due + again), id)
    confirmed = confirmed + 1
  end
end
return confirmed
