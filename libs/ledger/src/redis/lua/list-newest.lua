-- Lists the newest members of sorted sets, of one after the other until enough is found.
--
-- KEYS[i]  a sorted set, by time
-- ARGV[1]  how many of each at most
-- ARGV[2]  the latest score, as ZREVRANGEBYSCORE takes it
-- ARGV[3]  the earliest one
-- ARGV[4]  so many members are enough
-- Returns  of each that was looked at {member, score, ...}, the newest first; of the first one always
local found, count = {}, 0
for i = 1, #KEYS do
  found[i] = redis.call('ZREVRANGEBYSCORE', KEYS[i], ARGV[2], ARGV[3], 'WITHSCORES', 'LIMIT', 0, ARGV[1])
  count = count + #found[i] / 2
  if count >= tonumber(ARGV[4]) then break end
end
return found
