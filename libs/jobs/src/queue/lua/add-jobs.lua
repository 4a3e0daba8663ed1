-- Adds many plain jobs to a queue of BullMQ: what its addStandardJob writes for a job without parent, deduplication, delay and
-- priority, in the same order, with what is about the queue done once for all of them. A job that exists changes nothing.
-- KEYS[1]  wait
-- KEYS[2]  meta
-- KEYS[3]  id, the counter of jobs
-- KEYS[4]  events
-- KEYS[5]  marker
-- KEYS[6]  active
-- ARGV[1]  prefix of the keys of jobs
-- ARGV[a]  id
-- ARGV[a + 1]  name
-- ARGV[a + 2]  data, JSON
-- ARGV[a + 3]  options, JSON
-- ARGV[a + 4]  when it was made, epoch milliseconds
-- Returns  nothing: the ids are the caller's
local ARGV, call = ARGV, redis.call
local wait, meta, counter, events, marker, active = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local prefix, kept, paused, most = ARGV[1], unpack(call('HMGET', meta, 'opts.maxLenEvents', 'paused', 'concurrency'))
if not kept then
  kept = 10000
  call('HSET', meta, 'opts.maxLenEvents', kept)
end

local keys, added, is_here = {}, {}, {}
for a = 2, #ARGV, 5 do keys[#keys + 1] = prefix .. ARGV[a] end
-- Of most batches no job exists, and one command says so.
local all_new = call('EXISTS', unpack(keys)) == 0
for n, key in ipairs(keys) do
  local a = 5 * n - 3
  local id, name = ARGV[a], ARGV[a + 1]
  if is_here[id] or (not all_new and call('EXISTS', key) == 1) then
    call('XADD', events, 'MAXLEN', '~', kept, '*', 'event', 'duplicated', 'jobId', id)
  else
    is_here[id] = true
    call('HSET', key, 'name', name, 'data', ARGV[a + 2], 'opts', ARGV[a + 3], 'timestamp', ARGV[a + 4], 'delay', '0',
      'priority', '0')
    call('XADD', events, '*', 'event', 'added', 'jobId', id, 'name', name)
    call('XADD', events, 'MAXLEN', '~', kept, '*', 'event', 'waiting', 'jobId', id)
    added[#added + 1] = id
  end
end
call('INCRBY', counter, (#ARGV - 1) / 5)
if #added == 0 then return end
call('LPUSH', wait, unpack(added))
local is_full = most and call('LLEN', active) >= tonumber(most)
if not paused and not is_full then call('ZADD', marker, 0, '0') end
