-- Ends a run for good: it is no longer watched, delivered or counted as open, and expires later. The run is as read_run returned
-- it, and has the letter of its state in `ended` if an attempt ended it.
--
-- Expects server-time before it. Those of its keys that lie beside it are no KEYS of a script that is about many runs; one that
-- is about one run declares them all the same: on a cluster that is moving them it is refused before anything is written.
-- @include run-record
-- @include open-runs
-- @include note-cron
-- @include note-notification
local function end_run(cron, run, keep, state, ...)
  local was, at = run.state, string.format(WHOLE, now)
  run.state = state
  redis.call('HSET', run.key, 's', state_text(run), 'f', since_due(run, now) .. ' ' .. (run.ended or ''), ...)
  redis.call('ZREM', cron.open, run.id)
  redis.call('PEXPIRE', run.key, keep)
  if was == 'uncertain' then redis.call('ZREM', cron.base .. 'uncertain', run.id) end
  if run.items then redis.call('PEXPIRE', cron.base .. 'items:' .. run.id, keep) end
  if state == 'skipped' or state == 'cancelled' then note_cron(cron.base .. 'noted', keep) end
  if state ~= 'failed' then return end
  note_notification(cron, run, at, keep)
  -- Index of failed runs; expired ones are removed, and the set expires after the last.
  local failed = cron.base .. 'failed'
  redis.call('ZADD', failed, at, run.id)
  redis.call('ZREMRANGEBYSCORE', failed, '-inf', string.format('%.0f', now - tonumber(keep)))
  redis.call('PEXPIRE', failed, keep)
end
