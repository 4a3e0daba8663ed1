-- Lists the runs of many crons that are due for a look, and moves their next look into the future.
-- Its reply is decoded by redis-occurrence-codec.ts.
--
-- Each cron has four keys, the first of them at k.
-- KEYS[k]  watch list
-- KEYS[k + 1]  runs of the cron, by instant
-- KEYS[k + 2]  skipped ranges, by their end
-- KEYS[k + 3]  notifications that wait to be settled
-- ARGV[1]  how many of a cron at most
-- ARGV[2]  look again after, ms
-- ARGV[3]  how many runs, and how many ranges, of a cron are kept
-- Returns  per cron {how many are on the watch list, 1 if there are more than are kept or 0, how many notifications wait,
--          run ids}, or what failed
--
-- The next look is moved first: after a sweep crashed, its runs come up again after the interval, and not at once on every
-- pod. A cron with unreadable keys fails alone, so that the other crons of the call are still swept.
-- @include lease/server-time
local read, keep = redis.pcall, tonumber(ARGV[3])
local until_now, look_at = string.format('%.0f', now), string.format('%.0f', now + tonumber(ARGV[2]))

local function look(k)
  local ids = read('ZRANGEBYSCORE', KEYS[k], '-inf', until_now, 'LIMIT', '0', ARGV[1])
  local runs, ranges = read('ZCARD', KEYS[k + 1]), read('ZCARD', KEYS[k + 2])
  local notifications = read('ZCARD', KEYS[k + 3])
  for _, reply in ipairs({ ids, runs, ranges, notifications }) do
    if type(reply) == 'table' and reply.err then return reply.err end
  end
  for _, id in ipairs(ids) do redis.call('ZADD', KEYS[k], look_at, id) end
  return { redis.call('ZCARD', KEYS[k]), (runs > keep or ranges > keep) and 1 or 0, notifications,
    unpack(ids) }
end

local replies = {}
for k = 1, #KEYS, 4 do replies[#replies + 1] = look(k) end
return replies
