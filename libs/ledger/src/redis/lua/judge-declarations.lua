-- Says whether anything would change if these crons were declared. Writes nothing.
--
-- KEYS[1]  what was declared, by cron
-- KEYS[2]  tombstones, by when each may be deleted
-- ARGV[1]  app
-- ARGV[2]  order of its revision
-- ARGV[3]  revisions that are gone, a line each
-- ARGV[4]  1: no process of a former release is live
-- ARGV[5]  keep a tombstone for, ms
-- ARGV[6]  how many declarations follow
-- ARGV[i * 2 + 5]  name of the i-th cron
-- ARGV[i * 2 + 6]  hash of its declaration
-- Returns  {'IDLE' or 'WRITE', word, ...}, what judge-declaration answers for each
--
-- Repeating a known declaration is by far the most frequent call, so it only reads.
-- @include lease/server-time
-- @include judge-declaration
local WRITES = { created = true, changed = true, reverted = true, restored = true, taken = true, noted = true }
local by = declarer(ARGV[1], ARGV[2], ARGV[3], ARGV[4])
local names = {}
for i = 1, tonumber(ARGV[6]) do names[i] = ARGV[i * 2 + 5] end
local known = redis.call('HMGET', KEYS[1], unpack(names))

local reply = { 'IDLE' }
for i = 1, #names do
  local word = judge(known[i], ARGV[i * 2 + 6], by)
  if WRITES[word] then reply[1] = 'WRITE' end
  -- Processes declare every few seconds; the time of the last declaration is written once an hour.
  if is_tombstone(known[i]) and tonumber(redis.call('ZSCORE', KEYS[2], names[i]) or '0') < now + tonumber(ARGV[5]) then
    reply[1] = 'WRITE'
  end
  reply[i + 1] = word
end
if redis.call('ZCOUNT', KEYS[2], '-inf', string.format('(%.0f', now)) > 0 then reply[1] = 'WRITE' end
return reply
