-- Completes jobs of a queue of BullMQ and takes others, many in one call: what its moveToFinished and moveToActive write for jobs
-- without parent, children and deduplication, in a queue that is neither paused nor limited and where no delayed job is due. What
-- is not as plain as that is left untouched, and the caller has BullMQ's own scripts do it.
-- KEYS[1]  wait
-- KEYS[2]  active
-- KEYS[3]  prioritized
-- KEYS[4]  events
-- KEYS[5]  stalled
-- KEYS[6]  delayed
-- KEYS[7]  meta
-- KEYS[8]  pc, the counter of priorities
-- KEYS[9]  marker
-- KEYS[10]  completed
-- ARGV[1]  prefix of the keys of jobs
-- ARGV[2]  now, epoch milliseconds
-- ARGV[3]  a lock lasts for, ms
-- ARGV[4]  so many completed jobs are kept
-- ARGV[5]  a completed job is kept for, ms
-- ARGV[a]  token of a worker's slot
-- ARGV[a + 1]  id of the job that it completes, or empty
-- ARGV[a + 2]  what that job returned, JSON
-- ARGV[a + 3]  1: it takes another job
-- Returns  per slot {1: the job is completed, or there was none | 0: not plain [, id and hash of the job taken]},
--   then 'ASK': jobs are left, or may be, for BullMQ's script | when the next delayed job is due, epoch milliseconds | 0
local ARGV, call, number = ARGV, redis.call, tonumber
local wait, active, prioritized, events, stalled = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local delayed, meta, counter, marker, completed = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local prefix, now, lock_ms, most_kept, kept_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local function complete(id, token, value)
  local key = prefix .. id
  local lock = key .. ':lock'
  if call('GET', lock) ~= token then return false end
  local name, parent, deduplication = unpack(call('HMGET', key, 'name', 'parentKey', 'deid'))
  if not name or parent or deduplication then return false end
  if call('EXISTS', key .. ':dependencies', key .. ':unsuccessful') > 0 then return false end
  if call('LREM', active, -1, id) == 0 then return false end
  call('DEL', lock)
  call('SREM', stalled, id)
  call('HINCRBY', key, 'atm', 1)
  call('HSET', key, 'returnvalue', value, 'finishedOn', now)
  call('ZADD', completed, now, id)
  call('XADD', events, '*', 'event', 'completed', 'jobId', id, 'returnvalue', value, 'prev', 'active')
  return true
end

local function remove(ids)
  if #ids == 0 then return end
  for _, id in ipairs(ids) do
    local key = prefix .. id
    call('DEL', key, key .. ':logs', key .. ':dependencies', key .. ':processed', key .. ':failed', key .. ':unsuccessful')
  end
  call('ZREM', completed, unpack(ids))
end

local function tidy()
  -- A script of BullMQ has noted how many events are kept when the first job was added.
  call('XTRIM', events, 'MAXLEN', '~', call('HGET', meta, 'opts.maxLenEvents') or 10000)
  remove(call('ZRANGEBYSCORE', completed, '-inf', number(now) - number(kept_ms), 'LIMIT', 0, 1000))
  remove(call('ZREVRANGE', completed, most_kept, -1))
end

-- Whoever takes a job first makes those wait that are due by now.
local function next_due()
  local score = number(call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2])
  if not score then return 0, false end
  return math.floor(score / 0x1000), score < (number(now) + 1) * 0x1000
end

local function activate(id, token)
  local key = prefix .. id
  call('SET', key .. ':lock', token, 'PX', lock_ms)
  call('XADD', events, '*', 'event', 'active', 'jobId', id, 'prev', 'waiting')
  call('HSET', key, 'processedOn', now)
  call('HINCRBY', key, 'ats', 1)
  return call('HGETALL', key)
end

local replies, takers, count = {}, {}, 0
for a = 6, #ARGV, 4 do
  local token, id = ARGV[a], ARGV[a + 1]
  local is_done = id == '' or complete(id, token, ARGV[a + 2])
  if id ~= '' and is_done then count = count + 1 end
  replies[#replies + 1] = { is_done and 1 or 0 }
  if is_done and ARGV[a + 3] == '1' then takers[#takers + 1] = { reply = replies[#replies], token = token } end
end
if count > 0 then tidy() end

local function take()
  local paused, most, max = unpack(call('HMGET', meta, 'paused', 'concurrency', 'max'))
  local due_at, is_due = next_due()
  if paused or most or max or is_due then return 'ASK' end
  local ids = call('RPOP', wait, #takers) or {}
  if #ids > 0 then call('LPUSH', active, unpack(ids)) end
  for n, id in ipairs(ids) do
    local taker = takers[n]
    taker.reply[2], taker.reply[3] = id, activate(id, taker.token)
  end
  if #ids > 0 then call('ZADD', marker, 0, '0') end
  if #ids == #takers then return due_at end
  if call('EXISTS', prioritized) == 1 then return 'ASK' end
  call('DEL', counter)
  return due_at
end

local left = #takers > 0 and take() or 0
local is_idle = count > 0 and left == 0 and call('EXISTS', wait, active, prioritized) == 0
if is_idle then call('XADD', events, '*', 'event', 'drained') end
replies[#replies + 1] = left
return replies
