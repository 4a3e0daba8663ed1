-- Adds entries to the list of all that happened, and keeps it short.
--
-- KEYS[1]  the list
-- ARGV[1]  how many entries it has at the most
-- ARGV[2]  it is gone when nothing was added for so long, ms
-- ARGV[n]  from 3 on: entries
-- Returns  id of the last one
--
-- Cut at each entry and exactly: a list that is cut now and then may be twice as long as it should be.
local id
for n = 3, #ARGV do
  id = redis.call('XADD', KEYS[1], 'MAXLEN', '=', ARGV[1], '*', 'e', ARGV[n])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return id
