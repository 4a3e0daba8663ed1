-- Completes jobs of queues of BullMQ and takes others, many in one call: what its moveToFinished and moveToActive write for jobs
-- without parent, children and deduplication, in queues that are neither paused nor limited and have no delayed job that is due.
-- Anything else stays untouched, and the caller has BullMQ's own scripts do it.
--
-- Where the ledger is on the same server, it has put finish_runs and begin_runs before this script (attempt-steps.lua), and the runs
-- of those jobs end and begin in the same step. Otherwise both are nil, and so are the last two keys.
-- KEYS[n]  prefix of the keys of queue n: first the queues to take from, in the order in which they are looked at, then others in
--   which jobs end. All keys of a queue begin with it, and share its hash tag
-- KEYS[queue_count + 1]  what the caller's last call of this kind did: a connection that was lost before the reply came sends the
--   call again
-- KEYS[queue_count + 2]  where the ledger counts fences
-- KEYS[queue_count + 3]  what begins ask for: for each cron how many attempts a run has, and which ends are notified
-- ARGV[1]  now, epoch milliseconds
-- ARGV[2]  a lock lasts for, ms
-- ARGV[3]  so many completed jobs are kept in each queue
-- ARGV[4]  a completed job is kept for, ms
-- ARGV[5]  number of queues
-- ARGV[6]  number of queues to take from
-- ARGV[7]  number of these, from the first on, whose markers the caller has popped
-- ARGV[8]  id of this call, another one than that of the last
-- ARGV[9]  what keys of crons begin with, for the ledger
-- ARGV[10]  it keeps a finished run for, ms
-- ARGV[11]  it asks again after, ms, while a run of the cron has to be waited for
-- ARGV[12]  it looks again after, ms
-- ARGV[13]  worker
-- ARGV[14]  length of a run lease, ms
-- ARGV[a]  token of a worker's slot
-- ARGV[a + 1]  queue of the job that it completes | 0: it completes none
-- ARGV[a + 2]  id of that job
-- ARGV[a + 3]  what that job returned, JSON
-- ARGV[a + 4]  1: it takes another job | 2: and doesn't wait for the first queue if that isn't plain
-- ARGV[a + 5]  run, fence and nonce of the attempt that ends with the job, with spaces in between, or empty
-- ARGV[a + 6]  result of that run, JSON, or empty
-- ARGV[a + 7]  nonce with which the run of the job that it takes begins, or empty
-- Returns  per slot {1: the job is completed, or there was none | 0: not plain [, queue, and id and hash of the job taken, and what
--   begin_runs replied of its run, if asked]}, or {1, queue} if BullMQ's script must ask that queue for this slot first; then a list
--   per queue that was looked at: 'ASK': jobs are left, or may be, for BullMQ's script | when its next delayed job is due, epoch
--   milliseconds | 0; then what finish_runs replied, per slot with such a run
local KEYS, ARGV, call, number = KEYS, ARGV, redis.call, tonumber
local now, lock_ms, most_kept, kept_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local queue_count, sources = number(ARGV[5]), number(ARGV[6])
local last_call, SLOT, FIRST = KEYS[queue_count + 1], 8, 15
local ledger = finish_runs and { fences = KEYS[queue_count + 2], head = ARGV[9], keep = ARGV[10], turn = ARGV[11], sweep = ARGV[12] }

local key_of = { __index = function(queue, name)
  local key = queue.prefix .. name
  queue[name] = key
  return key
end }
local queues = {}
for n = 1, queue_count do queues[n] = setmetatable({ prefix = KEYS[n], ended = {}, taken = 0 }, key_of) end

-- One command for many jobs wherever there is one: of a script, the commands are the cost.
local replies, takers, ends, locks, children, finishing = {}, {}, {}, {}, {}, {}
for a = FIRST, #ARGV, SLOT do
  local reply, queue, id = { 1 }, queues[number(ARGV[a + 1])], ARGV[a + 2]
  replies[#replies + 1] = reply
  if queue then
    local key = queue.prefix .. id
    local job = { queue = queue, id = id, key = key, token = ARGV[a], value = ARGV[a + 3], reply = reply }
    ends[#ends + 1], locks[#locks + 1] = job, key .. ':lock'
    local run, fence, nonce = string.match(ARGV[a + 5], '^(%S+) (%S+) (%S+)$')
    if run then
      finishing[#finishing + 1] = { id = run, fence = fence, nonce = nonce, result = ARGV[a + 6], job = job }
    else
      job.may_have_children = true
      children[#children + 1], children[#children + 2] = key .. ':dependencies', key .. ':unsuccessful'
    end
  end
end

-- A job stays as long as the record of its run can't be read.
local finished = #finishing > 0 and finish_runs(ledger, finishing) or {}
for n, reply in ipairs(finished) do finishing[n].job.is_broken = reply[1] == 'BROKEN' end

-- The queue and the id of the job that each slot got, in the order of the slots; nothing of a call that has not been here before.
local before = call('GET', last_call)
before = before and cmsgpack.unpack(before)
before = before and before[1] == ARGV[8] and before[2]

local held = #ends > 0 and call('MGET', unpack(locks)) or {}
local have_children = #children > 0 and call('EXISTS', unpack(children)) > 0

local function complete(job, token)
  local queue, id, key = job.queue, job.id, job.key
  if token ~= job.token or job.is_broken then return false end
  local name, parent, deduplication, attempts = unpack(call('HMGET', key, 'name', 'parentKey', 'deid', 'atm'))
  if not name or parent or deduplication then return false end
  if have_children and job.may_have_children and call('EXISTS', key .. ':dependencies', key .. ':unsuccessful') > 0 then return false end
  if call('LREM', queue.active, -1, id) == 0 then return false end
  call('HSET', key, 'atm', attempts and number(attempts) + 1 or '1', 'returnvalue', job.value, 'finishedOn', now)
  call('XADD', queue.events, '*', 'event', 'completed', 'jobId', id, 'returnvalue', job.value, 'prev', 'active')
  queue.ended[#queue.ended + 1] = id
  return true
end

local unlocked = {}
for n, job in ipairs(ends) do
  if complete(job, held[n]) then
    unlocked[#unlocked + 1] = locks[n]
  elseif not (before and call('HEXISTS', job.key, 'finishedOn') == 1) then
    job.reply[1] = 0
  end
end
if #unlocked > 0 then call('DEL', unpack(unlocked)) end

local KINDS = { ':logs', ':dependencies', ':processed', ':failed', ':unsuccessful' }
local KINDS_OF_RUN = { ':logs' }
local function delete(queue, ids)
  local keys = {}
  for n, id in ipairs(ids) do
    local key = queue.prefix .. id
    keys[#keys + 1] = key
    -- The job of a run has no children.
    for _, kind in ipairs(string.find(id, '@', 1, true) and KINDS_OF_RUN or KINDS) do keys[#keys + 1] = key .. kind end
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
  local a = FIRST + SLOT * (n - 1)
  local takes = ARGV[a + 4]
  if reply[1] == 1 and takes ~= '0' and not before then
    takers[#takers + 1] = { reply = reply, token = ARGV[a], waits = takes == '1', nonce = ARGV[a + 7] }
  end
end

-- Whoever takes a job first makes those wait that are due by now.
local function next_due(queue)
  local score = number(call('ZRANGE', queue.delayed, 0, 0, 'WITHSCORES')[2])
  if not score then return 0, false end
  return math.floor(score / 0x1000), score < (number(now) + 1) * 0x1000
end

local served, beginning = 0, {}
-- A retry, or another delivery, is another job of the same run.
local function begins(reply, id, nonce)
  if ledger and nonce ~= '' then beginning[#beginning + 1] = { reply = reply, id = string.gsub(id, '%-d%d+$', ''), nonce = nonce } end
end

local function activate(n, ids)
  if #ids == 0 then return end
  local queue = queues[n]
  call('LPUSH', queue.active, unpack(ids))
  for _, id in ipairs(ids) do
    served = served + 1
    local taker, key = takers[served], queue.prefix .. id
    call('SET', key .. ':lock', taker.token, 'PX', lock_ms)
    call('XADD', queue.events, '*', 'event', 'active', 'jobId', id, 'prev', 'waiting')
    local hash, starts = call('HGETALL', key), '1'
    for i = 1, #hash, 2 do
      if hash[i] == 'ats' then starts = string.format('%.0f', number(hash[i + 1]) + 1) end
    end
    call('HSET', key, 'processedOn', now, 'ats', starts)
    -- The reader keeps the last value of a field.
    hash[#hash + 1], hash[#hash + 2], hash[#hash + 3], hash[#hash + 4] = 'processedOn', now, 'ats', starts
    taker.reply[2], taker.reply[3], taker.reply[4] = n, id, hash
    begins(taker.reply, id, taker.nonce)
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

-- Once more what this call got when it was here before, and not another one.
local function take_again(reply, a, got)
  local queue, id = queues[got[1]], got[2]
  local key = queue.prefix .. id
  if call('GET', key .. ':lock') ~= ARGV[a] then return end
  reply[2], reply[3], reply[4] = got[1], id, call('HGETALL', key)
  begins(reply, id, ARGV[a + 7])
end

local looked_at = {}
if before then
  for n, got in ipairs(before) do
    if got[2] then take_again(replies[n], FIRST + SLOT * (n - 1), got) end
  end
  for n = 1, sources do looked_at[n] = 0 end
end
for n = 1, sources do
  if served == #takers then break end
  looked_at[n] = take(n)
  -- The others may have enough for all slots, each time.
  if n == 1 and sources > 1 and looked_at[n] == 'ASK' and takers[1].waits then table.remove(takers, 1).reply[2] = n end
end

-- As BullMQ does after each job taken: there may be more, and the caller is busy now. It alone knew of the markers that it popped.
for n = 1, sources do
  if queues[n].taken > 0 or (served > 0 and n <= number(ARGV[7])) then call('ZADD', queues[n].marker, 0, '0') end
end
for n, queue in ipairs(queues) do
  local is_idle = #queue.ended > 0 and (looked_at[n] or 0) == 0
  if is_idle and call('EXISTS', queue.wait, queue.active, queue.prioritized) == 0 then
    call('XADD', queue.events, '*', 'event', 'drained')
  end
end

-- The same for all begins of a cron. Where nothing is asked for, the worker begins the run by itself.
local function begin_all()
  local names, runs = {}, {}
  for n, run in ipairs(beginning) do names[n] = string.match(run.id, '^(.+)@') or '' end
  local asked = call('HMGET', KEYS[queue_count + 3], unpack(names))
  for n, run in ipairs(beginning) do
    local most, notify = string.match(asked[n] or '', '^(%d+) (.*)$')
    if most then
      run.worker, run.ttl, run.most, run.notify = ARGV[13], ARGV[14], most, notify
      runs[#runs + 1] = run
    end
  end
  local begun = #runs > 0 and begin_runs(ledger, runs) or {}
  for n, run in ipairs(runs) do run.reply[5] = begun[n] end
end
if #beginning > 0 then begin_all() end

if not before and (served > 0 or #ends > 0) then
  local got = {}
  for n, reply in ipairs(replies) do got[n] = reply[3] and { reply[2], reply[3] } or {} end
  call('SET', last_call, cmsgpack.pack({ ARGV[8], got }), 'PX', lock_ms)
end
replies[#replies + 1] = looked_at
replies[#replies + 1] = finished
return replies
