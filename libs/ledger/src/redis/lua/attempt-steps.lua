-- Ends and begins of attempts as parts of a script of a queue on the same server: the runs are given by their ids, because the
-- server knows only then which ones the queue hands out. Expects begin-attempts and finish-attempts before it, as functions.
--
-- `about` has what all runs of a call share: { fences, head, keep, turn, sweep }. What the keys of any cron begin with, up to its
-- name, is head; fences and the times are those of the two scripts.
-- Returns  nothing: it defines finish_runs and begin_runs for the script behind it

local function keys_of_runs(about, runs, keys)
  for _, run in ipairs(runs) do
    local base = about.head .. string.match(run.id, '^(.+)@') .. '}:'
    keys[#keys + 1], keys[#keys + 2] = base .. 'cron', base .. 'run:' .. run.id
  end
  return keys
end

-- Of runs that succeeded: { id, fence, nonce, result as JSON or empty }. Replies as finish-attempts does.
local function finish_runs(about, runs)
  local args = { about.sweep, about.keep }
  for _, run in ipairs(runs) do
    args[#args + 1], args[#args + 2] = run.fence, run.nonce
    if run.result == '' then
      args[#args + 1] = 'succeeded'
    else
      args[#args + 1], args[#args + 2] = 'returned', run.result
    end
  end
  return finish_attempts(keys_of_runs(about, runs, {}), args)
end

-- Of runs that a worker gets now: { id, nonce, worker, ttl, most, notify }. Replies as begin-attempts does.
local function begin_runs(about, runs)
  local args = { about.keep, about.turn }
  for _, run in ipairs(runs) do
    args[#args + 1], args[#args + 2] = run.nonce, run.worker
    args[#args + 1], args[#args + 2], args[#args + 3] = run.ttl, run.most, run.notify
  end
  return begin_attempts(keys_of_runs(about, runs, { about.fences }), args)
end
