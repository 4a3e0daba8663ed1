-- The one place where an attempt's fence is compared: whether it is the current one of the run. Expects run-record before it.
local function read_attempt(key, id, fence, nonce)
  local run = read_run(key, id)
  local current = run ~= nil and run.state == 'running' and string.match(run.latest, '^%d+') == fence
    and run.nonce == nonce
  return run, current
end

-- Whether the run's lease is over; one that is not among the open runs has none.
local function has_expired(cron, run)
  return (tonumber(redis.call('ZSCORE', cron.open, run.id) or '') or 0) <= now
end
