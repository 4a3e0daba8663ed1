-- Records that a process is alive, and returns what it wants to know of the others.
--
-- KEYS[1]  heartbeats: a stream
-- KEYS[2]  version of the catalog
-- KEYS[3]  the highest format ever written by all
-- KEYS[4]  crons, by when each is due; may be left out
-- ARGV[1]  entries kept, about
-- ARGV[2]  the last entry that the process has read
-- ARGV[n]  its own entry: fields and values
-- Returns  {id of its entry, epoch ms, entries since the last one, its own included, version or '', format or '', when the first cron is due or ''}
local entry = {}
for n = 3, #ARGV do
  entry[#entry + 1] = ARGV[n]
end
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', unpack(entry))
local now = string.match(id, '^(%d+)-0$')
if not now then
  -- An id repeats the millisecond of the one before it while the clock is behind that.
  local server_time = redis.call('TIME')
  now = string.format('%.0f', server_time[1] * 1000 + math.floor(server_time[2] / 1000))
end
local known = redis.call('MGET', KEYS[2], KEYS[3])
local first = KEYS[4] and redis.call('ZRANGE', KEYS[4], '0', '0', 'WITHSCORES')[2]
local entries = redis.call('XRANGE', KEYS[1], '(' .. ARGV[2], '+')
return { id, now, entries, known[1] or '', known[2] or '', first or '' }
