-- Ends a run for good: it is no longer watched, delivered or counted as open, and expires later.
--
-- The keys are a table and not KEYS, because a run also ends by the hand of its successor. Those of its items and of the
-- cron's failed runs and notifications lie beside it, and a script that is about one run declares them all the same: on a
-- cluster that is moving them it is refused before anything is written. { run, effects, sets }.
-- @include note-notification
local over = { succeeded = true, failed = true, cancelled = true, skipped = true }
local function end_run(id, keys, keep, ...)
  redis.call('HSET', keys.run, ...)
  for _, set in ipairs(keys.sets) do redis.call('ZREM', set, id) end
  redis.call('PEXPIRE', keys.run, keep)
  local base, written = string.sub(keys.run, 1, -#id - 5), { ... }
  if redis.call('PEXPIRE', keys.effects, keep) == 1 then redis.call('PEXPIRE', base .. 'items:' .. id, keep) end
  for i = 1, #written, 2 do written[written[i]] = written[i + 1] end
  if written.state ~= 'failed' then return end
  note_notification(base, id, 'failed', written.finishedAt, keep)
  -- Index of failed runs; expired ones are removed, and the set expires after the last.
  local oldest = string.format('%.0f', tonumber(written.finishedAt) - tonumber(keep))
  redis.call('ZADD', base .. 'failed', written.finishedAt, id)
  redis.call('ZREMRANGEBYSCORE', base .. 'failed', '-inf', oldest)
  redis.call('PEXPIRE', base .. 'failed', keep)
end
