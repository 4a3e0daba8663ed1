-- Deletes finished runs beyond the newest, and the skipped ranges beyond as many.
--
-- KEYS[1]  cron record
-- KEYS[2]  runs of the cron, by instant
-- KEYS[3]  open runs
-- KEYS[4]  skipped ranges, by their end
-- KEYS[5]  failed runs
-- KEYS[6]  run ids that were used
-- ARGV[1]  how many to keep
-- ARGV[2]  how many to forget at most
-- ARGV[3]  how long the id of a triggered run is remembered, ms
-- Returns  how many runs were forgotten
--
-- The latest forgotten instant is recorded, so that a forgotten run is not mistaken for a missed one. The id of a triggered run has
-- no instant to compare: the id itself is remembered while a duplicate of the trigger may still arrive. On a cluster that is
-- moving them, records that are elsewhere already expire by themselves.
-- @include lease/server-time
-- @include find-cron
-- @include remember-ids
-- More than this Lua can't unpack in one go.
local MOST_OPEN = 5000
local keep, most, base = tonumber(ARGV[1]), tonumber(ARGV[2]), find_cron(KEYS[1]).base
local forgotten = tonumber(redis.call('HGET', KEYS[1], 'forgotten') or '0')
local before = forgotten

local range = redis.call('ZRANGE', KEYS[4], -(keep + 1), -(keep + 1), 'WITHSCORES')
if range[2] then
  forgotten = math.max(forgotten, tonumber(range[2]))
  redis.call('ZREMRANGEBYRANK', KEYS[4], 0, -(keep + 1))
end

-- The oldest that are over, beyond those that are still open.
local function oldest_surplus()
  local surplus = redis.call('ZCARD', KEYS[2]) - keep
  if surplus <= 0 then return {} end
  local ids = redis.call('ZRANGE', KEYS[2], 0, math.min(surplus, most + math.min(MOST_OPEN, redis.call('ZCARD', KEYS[3]))) - 1)
  local open, found = redis.call('ZMSCORE', KEYS[3], unpack(ids)), {}
  for i, id in ipairs(ids) do
    if not open[i] and #found < most then found[#found + 1] = id end
  end
  return found
end

local ids, gone, asked = oldest_surplus(), {}, {}
for _, id in ipairs(ids) do
  gone[#gone + 1] = base .. 'run:' .. id
  gone[#gone + 1] = base .. 'items:' .. id
  if string.find(id, '@manual-', 1, true) then asked[#asked + 1] = id end
end
if #asked > 0 then remember_ids(KEYS[6], asked, tonumber(ARGV[3])) end
if #ids > 0 then
  local instants = redis.call('ZMSCORE', KEYS[2], ids[#ids])
  forgotten = math.max(forgotten, tonumber(instants[1]))
  redis.call('ZREM', KEYS[2], unpack(ids))
  redis.call('ZREM', KEYS[5], unpack(ids))
  redis.call('UNLINK', unpack(gone))
end
if forgotten > before then redis.call('HSET', KEYS[1], 'forgotten', string.format('%.0f', forgotten)) end
return #ids
