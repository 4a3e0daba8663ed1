-- Lists the runs of many crons that are due for a look, and moves their next look into the future.
-- Its reply is decoded by redis-occurrence-codec.ts.
--
-- Each cron has four keys, the first of them at k.
-- KEYS[k]  open runs
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
-- @include open-runs
local read, keep, again = redis.pcall, tonumber(ARGV[3]), tonumber(ARGV[2])

-- Those of a kind that are due, and with them where their next look is.
local function add_due(ids, open, bands)
  local from, to = bands == -1 and '(-inf' or score_of(bands, 0), score_of(bands, now)
  local due = redis.call('ZRANGEBYSCORE', open, from, to, 'LIMIT', '0', tonumber(ARGV[1]) - #ids)
  -- The lease of one that runs is over: it must not seem to be extended.
  local next_look = score_of(bands == 0 and -1 or bands, now + again)
  for _, id in ipairs(due) do
    redis.call('ZADD', open, next_look, id)
    ids[#ids + 1] = id
  end
end

local function look(k)
  local open, runs, ranges = read('ZCARD', KEYS[k]), read('ZCARD', KEYS[k + 1]), read('ZCARD', KEYS[k + 2])
  local notifications = read('ZCARD', KEYS[k + 3])
  for _, reply in ipairs({ open, runs, ranges, notifications }) do
    if type(reply) == 'table' and reply.err then return reply.err end
  end
  local ids, watched = {}, 0
  if open > 0 then
    watched = redis.call('ZCOUNT', KEYS[k], '(-inf', '+inf')
    for _, bands in ipairs({ 0, -1, 1, 2 }) do add_due(ids, KEYS[k], bands) end
  end
  return { watched, (runs > keep or ranges > keep) and 1 or 0, notifications, unpack(ids) }
end

local replies = {}
for k = 1, #KEYS, 4 do replies[#replies + 1] = look(k) end
return replies
