-- Takes finished runs beyond the newest out of the cron's index, and the skipped ranges beyond as many.
--
-- KEYS[1]  runs of the cron, by instant
-- KEYS[2]  open runs
-- KEYS[3]  skipped ranges
-- ARGV[1]  how many to keep
-- ARGV[2]  how many to forget at most
-- Returns  ids of the runs to delete
--
-- The ids go back to the caller, which deletes their keys; if it crashes before, the keys' own expiry is the net.
local keep, most = tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -(keep + 1))
local surplus = redis.call('ZCARD', KEYS[1]) - keep
if surplus <= 0 then return {} end
local ids = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, math.min(surplus, most) - 1)) do
  if not redis.call('ZSCORE', KEYS[2], id) then
    redis.call('ZREM', KEYS[1], id)
    ids[#ids + 1] = id
  end
end
return ids
