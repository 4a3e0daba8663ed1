-- Completes jobs of queues of BullMQ and takes others, many in one call: what its moveToFinished and moveToActive write for jobs
-- without parent, children and deduplication, in queues that are neither paused nor limited and have no delayed job that is due.
-- Anything else stays untouched, and the caller has BullMQ's own scripts do it.
-- KEYS[n]  prefix of the keys of queue n: first the queues to take from, in the order in which they are looked at, then others in
--   which jobs end. All keys of a queue begin with it, and share its hash tag
-- ARGV[1]  now, epoch milliseconds
-- ARGV[2]  a lock lasts for, ms
-- ARGV[3]  so many completed jobs are kept in each queue
-- ARGV[4]  a completed job is kept for, ms
-- ARGV[5]  number of queues to take from
-- ARGV[6]  number of these, from the first on, whose markers the caller has popped
-- ARGV[a]  token of a worker's slot
-- ARGV[a + 1]  queue of the job that it completes | 0: it completes none
-- ARGV[a + 2]  id of that job
-- ARGV[a + 3]  what that job returned, JSON
-- ARGV[a + 4]  1: it takes another job | 2: and doesn't wait for the first queue if that isn't plain
-- Returns  per slot {1: the job is completed, or there was none | 0: not plain [, queue, and id and hash of the job taken]}, or
--   {1, queue} if BullMQ's script must ask that queue for this slot first; then a list per queue that was looked at: 'ASK': jobs are
--   left, or may be, for BullMQ's script | when its next delayed job is due, epoch milliseconds | 0
local ARGV, call, number = ARGV, redis.call, tonumber
local now, lock_ms, most_kept, kept_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local key_of = { __index = function(queue, name)
  local key = queue.prefix .. name
  queue[name] = key
  return key
end }
local queues = {}
for n in ipairs(KEYS) do queues[n] = setmetatable({ prefix = KEYS[n], ended = {}, taken = 0 }, key_of) end

-- One command for many jobs wherever there is one: of a script, the commands are the cost.
local replies, takers, ends, locks, children = {}, {}, {}, {}, {}
for a = 7, #ARGV, 5 do
  local reply, queue, id = { 1 }, queues[number(ARGV[a + 1])], ARGV[a + 2]
  replies[#replies + 1] = reply
  if queue then
    local key = queue.prefix .. id
    ends[#ends + 1] = { queue = queue, id = id, key = key, token = ARGV[a], value = ARGV[a + 3], reply = reply }
    locks[#locks + 1] = key .. ':lock'
    children[#children + 1], children[#children + 2] = key .. ':dependencies', key .. ':unsuccessful'
  end
end
local held = #ends > 0 and call('MGET', unpack(locks)) or {}
local have_children = #ends > 0 and call('EXISTS', unpack(children)) > 0

local function complete(job, token)
  local queue, id, key = job.queue, job.id, job.key
  if token ~= job.token then return false end
  local name, parent, deduplication, attempts = unpack(call('HMGET', key, 'name', 'parentKey', 'deid', 'atm'))
  if not name or parent or deduplication then return false end
  if have_children and call('EXISTS', key .. ':dependencies', key .. ':unsuccessful') > 0 then return false end
  if call('LREM', queue.active, -1, id) == 0 then return false end
  call('HSET', key, 'atm', (number(attempts or '') or 0) + 1, 'returnvalue', job.value, 'finishedOn', now)
  call('XADD', queue.events, '*', 'event', 'completed', 'jobId', id, 'returnvalue', job.value, 'prev', 'active')
  queue.ended[#queue.ended + 1] = id
  return true
end

local unlocked = {}
for n, job in ipairs(ends) do
  if complete(job, held[n]) then unlocked[#unlocked + 1] = locks[n] else job.reply[1] = 0 end
end
if #unlocked > 0 then call('DEL', unpack(unlocked)) end

local KINDS = { '', ':logs', ':dependencies', ':processed', ':failed', ':unsuccessful' }
local function delete(queue, ids)
  local keys = {}
  for n, id in ipairs(ids) do
    local key = queue.prefix .. id
    for _, kind in ipairs(KINDS) do keys[#keys + 1] = key .. kind end
    -- Lua passes some thousand arguments at most.
    if #keys >= 600 or n == #ids then
      call('DEL', unpack(keys))
      keys = {}
    end
  end
end

local function tidy(queue)
  local scored = {}
  for n, id in ipairs(queue.ended) do scored[2 * n - 1], scored[2 * n] = now, id end
  call('SREM', queue.stalled, unpack(queue.ended))
  call('ZADD', queue.completed, unpack(scored))
  -- A script of BullMQ has noted how many events are kept when the first job was added.
  call('XTRIM', queue.events, 'MAXLEN', '~', call('HGET', queue.meta, 'opts.maxLenEvents') or 10000)
  local old = call('ZRANGEBYSCORE', queue.completed, '-inf', number(now) - number(kept_ms), 'LIMIT', 0, 1000)
  if #old > 0 then call('ZREM', queue.completed, unpack(old)) end
  delete(queue, old)
  local excess = call('ZCARD', queue.completed) - number(most_kept)
  if excess <= 0 then return end
  local popped, ids = call('ZPOPMIN', queue.completed, excess), {}
  for i = 1, #popped, 2 do ids[#ids + 1] = popped[i] end
  delete(queue, ids)
end

for _, queue in ipairs(queues) do
  if #queue.ended > 0 then tidy(queue) end
end
for n, reply in ipairs(replies) do
  local a = 2 + 5 * n
  local takes = ARGV[a + 4]
  if reply[1] == 1 and takes ~= '0' then takers[#takers + 1] = { reply = reply, token = ARGV[a], waits = takes == '1' } end
end

-- Whoever takes a job first makes those wait that are due by now.
local function next_due(queue)
  local score = number(call('ZRANGE', queue.delayed, 0, 0, 'WITHSCORES')[2])
  if not score then return 0, false end
  return math.floor(score / 0x1000), score < (number(now) + 1) * 0x1000
end

local served = 0
local function activate(n, ids)
  if #ids == 0 then return end
  local queue = queues[n]
  call('LPUSH', queue.active, unpack(ids))
  for _, id in ipairs(ids) do
    served = served + 1
    local taker, key = takers[served], queue.prefix .. id
    call('SET', key .. ':lock', taker.token, 'PX', lock_ms)
    call('XADD', queue.events, '*', 'event', 'active', 'jobId', id, 'prev', 'waiting')
    local hash, starts = call('HGETALL', key), 1
    for i = 1, #hash, 2 do
      if hash[i] == 'ats' then starts = number(hash[i + 1]) + 1 end
    end
    call('HSET', key, 'processedOn', now, 'ats', starts)
    -- The reader keeps the last value of a field.
    hash[#hash + 1], hash[#hash + 2], hash[#hash + 3], hash[#hash + 4] = 'processedOn', now, 'ats', string.format('%.0f', starts)
    taker.reply[2], taker.reply[3], taker.reply[4] = n, id, hash
  end
  queue.taken = queue.taken + #ids
end

local function take(n)
  local queue = queues[n]
  if call('EXISTS', queue.wait, queue.prioritized, queue.delayed, queue.pc) == 0 then return 0 end
  local paused, most, max = unpack(call('HMGET', queue.meta, 'paused', 'concurrency', 'max'))
  local due_at, is_due = next_due(queue)
  if paused or most or max or is_due then return 'ASK' end
  activate(n, call('RPOP', queue.wait, #takers - served) or {})
  if served == #takers then return due_at end
  local popped, ids = call('ZPOPMIN', queue.prioritized, #takers - served), {}
  for i = 1, #popped, 2 do ids[#ids + 1] = popped[i] end
  activate(n, ids)
  if served < #takers then call('DEL', queue.pc) end
  return due_at
end

local looked_at, sources = {}, number(ARGV[5])
for n = 1, sources do
  if served == #takers then break end
  looked_at[n] = take(n)
  -- The others may have enough for all slots, each time.
  if n == 1 and sources > 1 and looked_at[n] == 'ASK' and takers[1].waits then table.remove(takers, 1).reply[2] = n end
end

-- As BullMQ does after each job taken: there may be more, and the caller is busy now. It alone knew of the markers that it popped.
for n = 1, sources do
  if queues[n].taken > 0 or (served > 0 and n <= number(ARGV[6])) then call('ZADD', queues[n].marker, 0, '0') end
end
for n, queue in ipairs(queues) do
  local is_idle = #queue.ended > 0 and (looked_at[n] or 0) == 0
  if is_idle and call('EXISTS', queue.wait, queue.active, queue.prioritized) == 0 then
    call('XADD', queue.events, '*', 'event', 'drained')
  end
end
replies[#replies + 1] = looked_at
return replies
