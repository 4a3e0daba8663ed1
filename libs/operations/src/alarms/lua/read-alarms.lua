-- What is kept of crons, and when that was read.
--
-- KEYS[1]  alarms, a hash by cron
-- ARGV[a]  each cron
-- Returns  now, then of each cron what it says, an empty text for nothing
-- @include lease/server-time
local answer = { string.format('%.0f', now) }
for a = 1, #ARGV do
  answer[a + 1] = redis.call('HGET', KEYS[1], ARGV[a]) or ''
end
return answer
