-- Completes jobs of queues of BullMQ and takes others, many in one call: what its moveToFinished and moveToActive write for jobs
-- without parent, children and deduplication, in a queue that is not limited and where no delayed job is due. What is not as plain
-- as that is left untouched, and the caller has BullMQ's own scripts do it.
-- KEYS[n]  prefix of the keys of a queue
-- ARGV[1]  now, epoch milliseconds
-- ARGV[2]  a lock lasts for, ms
-- ARGV[3]  so many completed jobs are kept
-- ARGV[4]  a completed job is kept for, ms
-- ARGV[5]  jobs are taken from so many of the queues, the first one having the first turn
-- ARGV[6]  1: the worker has waited, and may have used up the marker of any queue
-- ARGV[a]  token of a worker's slot
-- ARGV[a + 1]  place in KEYS of the queue of the job that it completes, or 0
-- ARGV[a + 2]  id of that job
-- ARGV[a + 3]  what that job returned, JSON
-- ARGV[a + 4]  1: it takes another job | 2: only from a plain queue
-- Returns  per slot {1: the job is completed, or there was none | 0: not plain [, place of a queue [, id and hash of the job taken]]},
--   a queue without a job is left to BullMQ's script; then {when the next delayed job is due, epoch milliseconds, or 0,
--   places of all queues that are left to BullMQ's script}
local ARGV, call, number = ARGV, redis.call, tonumber
local now, lock_ms, most_kept, kept_ms, sources = ARGV[1], ARGV[2], ARGV[3], ARGV[4], number(ARGV[5])

local known = {}
local function queue_at(place)
  local queue = known[place]
  if queue then return queue end
  local prefix = KEYS[place]
  queue = { place = place, prefix = prefix, ended = 0, due_at = 0, is_taken = false }
  queue.wait, queue.active, queue.prioritized = prefix .. 'wait', prefix .. 'active', prefix .. 'prioritized'
  queue.delayed, queue.meta, queue.counter = prefix .. 'delayed', prefix .. 'meta', prefix .. 'pc'
  queue.events, queue.completed, queue.marker = prefix .. 'events', prefix .. 'completed', prefix .. 'marker'
  known[place] = queue
  return queue
end

local function complete(queue, id, token, value)
  local key = queue.prefix .. id
  local lock = key .. ':lock'
  if call('GET', lock) ~= token then return false end
  local name, parent, deduplication = unpack(call('HMGET', key, 'name', 'parentKey', 'deid'))
  if not name or parent or deduplication then return false end
  if call('EXISTS', key .. ':dependencies', key .. ':unsuccessful') > 0 then return false end
  if call('LREM', queue.active, -1, id) == 0 then return false end
  call('DEL', lock)
  call('SREM', queue.prefix .. 'stalled', id)
  call('HINCRBY', key, 'atm', 1)
  call('HSET', key, 'returnvalue', value, 'finishedOn', now)
  call('ZADD', queue.completed, now, id)
  call('XADD', queue.events, '*', 'event', 'completed', 'jobId', id, 'returnvalue', value, 'prev', 'active')
  queue.ended = queue.ended + 1
  return true
end

local function remove(queue, ids)
  if #ids == 0 then return end
  for _, id in ipairs(ids) do
    local key = queue.prefix .. id
    call('DEL', key, key .. ':logs', key .. ':dependencies', key .. ':processed', key .. ':failed', key .. ':unsuccessful')
  end
  call('ZREM', queue.completed, unpack(ids))
end

local function tidy(queue)
  -- A script of BullMQ has noted how many events are kept when the first job was added.
  call('XTRIM', queue.events, 'MAXLEN', '~', call('HGET', queue.meta, 'opts.maxLenEvents') or 10000)
  remove(queue, call('ZRANGEBYSCORE', queue.completed, '-inf', number(now) - number(kept_ms), 'LIMIT', 0, 1000))
  remove(queue, call('ZREVRANGE', queue.completed, most_kept, -1))
end

-- Whoever takes a job first makes those wait that are due by now.
local function is_due(queue)
  local score = number(call('ZRANGE', queue.delayed, 0, 0, 'WITHSCORES')[2])
  queue.due_at = score and math.floor(score / 0x1000) or 0
  return score and score < (number(now) + 1) * 0x1000
end

-- empty | closed: has nothing that may be taken | plain | other: to be asked of BullMQ's script
local function state_of(queue)
  if sources > 1 and call('EXISTS', queue.wait, queue.prioritized, queue.delayed, queue.counter) == 0 then return 'empty' end
  local paused, most, max = unpack(call('HMGET', queue.meta, 'paused', 'concurrency', 'max'))
  if is_due(queue) or max then return 'other' end
  if paused or most and call('LLEN', queue.active) >= number(most) then return 'closed' end
  return most and 'other' or 'plain'
end

local function look(queue)
  queue.state = queue.state or state_of(queue)
  return queue.state
end

local function activate(queue, id, token)
  local key = queue.prefix .. id
  call('SET', key .. ':lock', token, 'PX', lock_ms)
  call('XADD', queue.events, '*', 'event', 'active', 'jobId', id, 'prev', 'waiting')
  call('HSET', key, 'processedOn', now)
  call('HINCRBY', key, 'ats', 1)
  return call('HGETALL', key)
end

-- Gives jobs to so many slots, from a slot on.
local function give(queue, takers, from, count)
  local ids = call('RPOP', queue.wait, count) or {}
  if #ids > 0 then
    call('LPUSH', queue.active, unpack(ids))
    for n, id in ipairs(ids) do
      local taker = takers[from + n - 1]
      local reply = taker.reply
      reply[2], reply[3], reply[4] = queue.place, id, activate(queue, id, taker.token)
    end
    call('ZADD', queue.marker, 0, '0')
    queue.is_taken = true
  end
  if #ids < count then
    queue.state = call('EXISTS', queue.prioritized) == 1 and 'other' or 'empty'
    if queue.state == 'empty' then call('DEL', queue.counter) end
  end
  return #ids
end

local function leave(queue, takers, from, count)
  for n = from, from + count - 1 do
    takers[n].reply[2] = queue.place
  end
  queue.is_taken = true
  return count
end

-- Each queue has an equal share of the slots, and what one doesn't need goes to the others.
local function serve(takers, is_plain_only)
  local open, at = {}, 1
  for place = 1, sources do
    open[place] = queue_at(place)
  end
  while at <= #takers and #open > 0 do
    local still = {}
    for n, queue in ipairs(open) do
      local count = math.ceil((#takers - at + 1) / (#open - n + 1))
      if count == 0 then break end
      local state = look(queue)
      if state == 'plain' then at = at + give(queue, takers, at, count) end
      if state == 'other' and not is_plain_only then at = at + leave(queue, takers, at, count) end
      if queue.state == 'plain' or queue.state == 'other' and not is_plain_only then still[#still + 1] = queue end
    end
    open = still
  end
  return at > 1
end

-- The marker wakes one worker, which takes a job of another queue here; this queue's may have to be of a worker that has no other.
local function wake_others()
  for place = 1, sources do
    local queue = queue_at(place)
    local is_left = not queue.is_taken and look(queue) ~= 'empty' and queue.state ~= 'closed'
    if is_left and call('EXISTS', queue.wait, queue.prioritized, queue.delayed) > 0 then call('ZADD', queue.marker, 0, '0') end
  end
end

local replies, takers, plain_takers = {}, {}, {}
for a = 7, #ARGV, 5 do
  local token, place = ARGV[a], number(ARGV[a + 1])
  local is_done = place == 0 or complete(queue_at(place), ARGV[a + 2], token, ARGV[a + 3])
  local reply, takes = { is_done and 1 or 0 }, is_done and ARGV[a + 4]
  replies[#replies + 1] = reply
  if takes == '1' then takers[#takers + 1] = { reply = reply, token = token } end
  if takes == '2' then plain_takers[#plain_takers + 1] = { reply = reply, token = token } end
end
for _, queue in pairs(known) do
  if queue.ended > 0 then tidy(queue) end
end

local is_taken = serve(plain_takers, true)
is_taken = serve(takers, false) or is_taken
if is_taken and ARGV[6] == '1' and sources > 1 then wake_others() end

local left = { 0 }
for place, queue in pairs(known) do
  if queue.due_at > 0 and place <= sources and (left[1] == 0 or queue.due_at < left[1]) then left[1] = queue.due_at end
  if queue.state == 'other' then left[#left + 1] = place end
  local may_be_idle = queue.ended > 0 and queue.due_at == 0 and (not queue.state or queue.state == 'empty')
  if may_be_idle and call('EXISTS', queue.wait, queue.active, queue.prioritized) == 0 then
    call('XADD', queue.events, '*', 'event', 'drained')
  end
end
replies[#replies + 1] = left
return replies
