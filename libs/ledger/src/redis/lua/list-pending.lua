-- Which of many crons have runs that were claimed and never confirmed.
--
-- KEYS[i]  open runs of a cron
-- ARGV[1]  their lowest score
-- Returns  the numbers of those crons, from 1
--
-- One that can't be read is named too: whoever looks at it alone is told why.
local with = {}
for i = 1, #KEYS do
  if redis.pcall('ZCOUNT', KEYS[i], ARGV[1], '+inf') ~= 0 then with[#with + 1] = i end
end
return with
