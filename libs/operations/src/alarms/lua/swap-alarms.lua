-- Writes what a pod found out of crons, each only where it still says what the pod has read.
--
-- KEYS[1]  alarms, a hash by cron
-- ARGV[a]  of each cron, three by three: its name
-- ARGV[a + 1]  what it said when it was read; an empty text for nothing
-- ARGV[a + 2]  what it is to say; an empty text for nothing
-- Returns  of each cron 1 when it was written, else 0
local written = {}
for a = 1, #ARGV, 3 do
  local known = redis.call('HGET', KEYS[1], ARGV[a]) or ''
  written[#written + 1] = 0
  if known == ARGV[a + 1] then
    written[#written] = 1
    if ARGV[a + 2] == '' then
      redis.call('HDEL', KEYS[1], ARGV[a])
    else
      redis.call('HSET', KEYS[1], ARGV[a], ARGV[a + 2])
    end
  end
end
return written
