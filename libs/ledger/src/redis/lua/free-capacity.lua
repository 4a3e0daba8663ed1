-- Decides what becomes of a new run while others of its cron are open, and makes room for it.
--
-- Expects server-time before it. The keys are a table and not KEYS, because a call may bring the runs of many crons:
-- { runs, open, watch, pending, run, id, keep }, the last three of the new run.
-- @include end-run
local LONGEST_QUEUE, MOST_LOOKED_AT = 100, 2000
local written_at, after_now = string.format('%.0f', now), string.format('(%.0f', now)

-- Whether the new run has to be skipped, and how many open ones there are too many. Writes nothing.
local function overlap_of(open, policy, most)
  if policy == 'allow' then return false, 0 end
  local surplus = redis.call('ZCOUNT', open, after_now, '+inf') - tonumber(most) + 1
  if surplus <= 0 then return false, 0 end
  if policy == 'skip' then return true, surplus end
  return policy == 'queue-all' and redis.call('ZCOUNT', open, '+inf', '+inf') >= LONGEST_QUEUE, surplus
end

-- The open runs in the way, the oldest first.
local function runs_in_the_way(keys)
  local ids = redis.call('ZRANGEBYSCORE', keys.open, after_now, '+inf', 'LIMIT', 0, MOST_LOOKED_AT)
  local instants, runs = redis.call('ZMSCORE', keys.runs, unpack(ids)), {}
  local base = string.sub(keys.run, 1, -#keys.id - 1)
  for i, id in ipairs(ids) do
    local run = redis.call('HMGET', base .. id, 'state', 'attempt', 'leaseUntil', 'cancelUntil')
    runs[i] = { id = id, key = base .. id, effects = string.sub(base, 1, -5) .. 'effects:' .. id,
      instant = tonumber(instants[i] or '') or 0, running = run[1] == 'running', new = run[2] == '0',
      lease_until = tonumber(run[3] or '') or now, told = (run[4] or '') ~= '' }
  end
  table.sort(runs, function(a, b)
    if a.instant ~= b.instant then return a.instant < b.instant end
    return a.id < b.id
  end)
  return runs
end

local function stop_waiting(keys, run, ...)
  local sets = { keys.open, keys.watch, keys.pending }
  end_run(run.id, { run = run.key, effects = run.effects, sets = sets }, keys.keep, 'finishedAt', written_at, ...)
end

-- Ends or cancels the runs in the way.
local function replace_runs(keys, surplus, grace)
  local by, stop_by = 'replaced by ' .. keys.id, now + tonumber(grace)
  for i, run in ipairs(runs_in_the_way(keys)) do
    if i > surplus then return end
    if run.running and not run.told then
      -- Its worker learns of it with the next heartbeat; its lease ends with its grace at the latest.
      local lease_until = string.format('%.0f', math.min(run.lease_until, stop_by))
      redis.call('HSET', run.key, 'cancelAt', written_at, 'cancelBy', by, 'cancelUntil', string.format('%.0f', stop_by),
        'leaseUntil', lease_until)
      redis.call('ZADD', keys.open, lease_until, run.id)
      redis.call('ZADD', keys.watch, lease_until, run.id)
    elseif not run.running and run.new then
      stop_waiting(keys, run, 'state', 'skipped', 'skipped', 'superseded')
    elseif not run.running then
      stop_waiting(keys, run, 'state', 'cancelled', 'cancelAt', written_at, 'cancelBy', by, 'cancelUntil', written_at)
    end
  end
end

-- The runs that wait for their first attempt and exceed the limit: the new run takes their place. The oldest of them stay:
-- otherwise a cron that fires faster than its workers begin would never run.
local function supersede_runs(keys, most)
  local waiting, others = {}, 0
  for _, run in ipairs(runs_in_the_way(keys)) do
    if run.new and not run.running then waiting[#waiting + 1] = run else others = others + 1 end
  end
  for i = math.max(0, tonumber(most) - others) + 1, #waiting do
    stop_waiting(keys, waiting[i], 'state', 'skipped', 'skipped', 'superseded')
  end
end

local function free_capacity(keys, policy, most, surplus, grace)
  if surplus <= 0 then return end
  if policy == 'replace' then replace_runs(keys, surplus, grace) end
  if policy == 'queue-one' then supersede_runs(keys, most) end
end
