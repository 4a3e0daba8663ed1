-- Decides what becomes of a new run while others of its cron are open, and makes room for it.
--
-- Expects server-time and find-cron before it: a call may bring the runs of many crons.
-- @include end-run
local LONGEST_QUEUE, MOST_LOOKED_AT, MOST_ASKED_WHY = 100, 2000, 20
local after_now, at_once = string.format('(%.0f', now), string.format('%.0f', now)

-- Whether the new run has to be skipped, and how many open ones there are too many. Writes nothing.
local function overlap_of(open, policy, most)
  if policy == 'allow' then return false, 0 end
  local surplus = redis.call('ZCOUNT', open, after_now, '+inf') - tonumber(most) + 1
  if surplus <= 0 then return false, 0 end
  if policy == 'skip' then return true, surplus end
  return policy == 'queue-all' and redis.call('ZCOUNT', open, score_of(1, 0), '+inf') >= LONGEST_QUEUE, surplus
end

-- Why a new run is skipped that finds others in its way: nothing overlaps with one that no worker can execute.
local function blocked_by(cron)
  -- Those that wait for a worker have the highest scores.
  for _, id in ipairs(redis.call('ZREVRANGEBYSCORE', cron.open, '+inf', after_now, 'LIMIT', 0, MOST_ASKED_WHY)) do
    local why = redis.call('HGET', cron.base .. 'run:' .. id, 'waiting')
    if why then return why end
  end
  return 'overlap'
end

-- The open runs in the way, the oldest first.
local function runs_in_the_way(cron)
  local found = redis.call('ZRANGEBYSCORE', cron.open, after_now, '+inf', 'WITHSCORES', 'LIMIT', 0, MOST_LOOKED_AT)
  local runs = {}
  for i = 1, #found, 2 do
    local run = read_run(cron.base .. 'run:' .. found[i], found[i])
    if run then
      run.until_when = tonumber(found[i + 1])
      runs[#runs + 1] = run
    end
  end
  table.sort(runs, function(a, b)
    if a.since ~= b.since then return a.since < b.since end
    return a.id < b.id
  end)
  return runs
end

-- Ends or cancels the runs in the way.
local function replace_runs(cron, new, keep, surplus, grace)
  local by, stop_by = 'replaced by ' .. new, now + tonumber(grace)
  for i, run in ipairs(runs_in_the_way(cron)) do
    if i > surplus then return end
    if run.state == 'running' and not run.cancel_until then
      -- Its worker learns of it with the next heartbeat; its lease ends with its grace at the latest.
      redis.call('HSET', run.key, 'cancel', table.concat({ at_once, string.format('%.0f', stop_by), by }, ' '))
      redis.call('ZADD', cron.open, string.format('%.0f', math.min(run.until_when, stop_by)), run.id)
    elseif run.state ~= 'running' and run.attempt == '0' then
      end_run(cron, run, keep, 'skipped', 'skipped', 'superseded')
    elseif run.state ~= 'running' then
      end_run(cron, run, keep, 'cancelled', 'cancel', table.concat({ at_once, at_once, by }, ' '))
    end
  end
end

-- The runs that wait for their first attempt and exceed the limit: the new run takes their place. The oldest of them stay:
-- otherwise a cron that fires faster than its workers begin would never run.
local function supersede_runs(cron, keep, most)
  local waiting, others = {}, 0
  for _, run in ipairs(runs_in_the_way(cron)) do
    if run.attempt == '0' and run.state ~= 'running' then waiting[#waiting + 1] = run else others = others + 1 end
  end
  for i = math.max(0, tonumber(most) - others) + 1, #waiting do
    end_run(cron, waiting[i], keep, 'skipped', 'skipped', 'superseded')
  end
end

local function free_capacity(cron, new, keep, policy, most, surplus, grace)
  if surplus <= 0 then return end
  if policy == 'replace' then replace_runs(cron, new, keep, surplus, grace) end
  if policy == 'queue-one' then supersede_runs(cron, keep, most) end
end
