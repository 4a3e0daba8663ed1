-- Counts the runs of many crons.
--
-- KEYS[i]  runs of the cron, by instant
-- ARGV[1]  how long a finished run is kept, ms
-- Returns  per cron how many there are of instants since then
--
-- A finished run expires and stays in the index until it is forgotten, so older ones are not counted.
-- @include lease/server-time
local since = string.format('(%.0f', now - tonumber(ARGV[1]))
local counts = {}
for i = 1, #KEYS do counts[i] = redis.call('ZCOUNT', KEYS[i], since, '+inf') end
return counts
