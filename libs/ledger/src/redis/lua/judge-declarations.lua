-- Says whether anything would change if these crons were declared. Writes nothing.
--
-- KEYS[1]  what was declared, by cron
-- KEYS[2]  the highest build of each source
-- KEYS[3]  tombstones, by when each may be deleted
-- ARGV[1]  source
-- ARGV[2]  build
-- ARGV[3]  keep a tombstone for, ms
-- ARGV[4]  how many declarations follow
-- ARGV[i * 2 + 3]  name of the i-th cron
-- ARGV[i * 2 + 4]  hash of its declaration
-- Returns  {'CONFLICT', name, source} | {'IDLE' or 'WRITE', word, ...}, a word a declaration: CHANGED | NOTED | SAME | OLDER
--
-- Repeating a known declaration is by far the most frequent call, so it only reads.
-- @include lease/server-time
-- @include judge-declaration
local build = { source = ARGV[1], seq = tonumber(ARGV[2]), top = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '-1') }
local names = {}
for i = 1, tonumber(ARGV[4]) do names[i] = ARGV[i * 2 + 3] end
local known = redis.call('HMGET', KEYS[1], unpack(names))

local reply = { 'IDLE' }
if build.seq > build.top then reply[1] = 'WRITE' end
for i = 1, #names do
  local word, source = judge(known[i], ARGV[i * 2 + 4], build)
  if word == 'CONFLICT' then return { word, names[i], source } end
  if word == 'CHANGED' or word == 'NOTED' then reply[1] = 'WRITE' end
  -- Processes declare every few seconds; the time of the last declaration is written once an hour.
  if is_tombstone(known[i]) and tonumber(redis.call('ZSCORE', KEYS[3], names[i]) or '0') < now + tonumber(ARGV[3]) then
    reply[1] = 'WRITE'
  end
  reply[i + 1] = word
end
if redis.call('ZCOUNT', KEYS[3], '-inf', string.format('(%.0f', now)) > 0 then reply[1] = 'WRITE' end
return reply
