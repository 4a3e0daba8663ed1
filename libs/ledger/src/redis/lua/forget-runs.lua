-- Takes finished runs beyond the newest out of the cron's index, and the skipped ranges beyond as many.
--
-- KEYS[1]  runs of the cron, by instant
-- KEYS[2]  open runs
-- KEYS[3]  skipped ranges, by their end
-- KEYS[4]  cron record
-- KEYS[5]  failed runs
-- KEYS[6]  run ids that were used
-- ARGV[1]  how many to keep
-- ARGV[2]  how many to forget at most
-- ARGV[3]  how long the id of a triggered run is remembered, ms
-- Returns  ids of the runs to delete
--
-- The ids go back to the caller, which deletes their keys; if it crashes before, the keys expire by themselves. The latest
-- forgotten instant is recorded, so that a forgotten run is not mistaken for a missed one. The id of a triggered run has no
-- instant to compare: the id itself is remembered while a duplicate of the trigger may still arrive.
-- @include lease/server-time
-- @include remember-id
local keep, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local forgotten = tonumber(redis.call('HGET', KEYS[4], 'forgotten') or '0')
local before = forgotten

local range = redis.call('ZRANGE', KEYS[3], -(keep + 1), -(keep + 1), 'WITHSCORES')
if range[2] then
  forgotten = math.max(forgotten, tonumber(range[2]))
  redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -(keep + 1))
end

local ids, surplus = {}, math.min(redis.call('ZCARD', KEYS[1]) - keep, most)
local oldest = surplus > 0 and redis.call('ZRANGE', KEYS[1], 0, surplus - 1, 'WITHSCORES') or {}
for i = 1, #oldest, 2 do
  if not redis.call('ZSCORE', KEYS[2], oldest[i]) then
    redis.call('ZREM', KEYS[1], oldest[i])
    redis.call('ZREM', KEYS[5], oldest[i])
    ids[#ids + 1] = oldest[i]
    if string.find(oldest[i], '@manual-', 1, true) then remember_id(KEYS[6], oldest[i], tonumber(ARGV[3])) end
    forgotten = math.max(forgotten, tonumber(oldest[i + 1]))
  end
end
if forgotten > before then redis.call('HSET', KEYS[4], 'forgotten', string.format('%.0f', forgotten)) end
return ids
