-- Deletes, for each of many crons, finished runs beyond the newest and skipped ranges beyond the same number.
--
-- Each cron has six keys, the first of them at k.
-- KEYS[k]  cron record
-- KEYS[k + 1]  runs of the cron, by instant
-- KEYS[k + 2]  open runs
-- KEYS[k + 3]  skipped ranges, by their end
-- KEYS[k + 4]  failed runs
-- KEYS[k + 5]  run ids that were used
-- ARGV[1]  how many to keep per cron
-- ARGV[2]  how many to forget per cron at most
-- ARGV[3]  after looking at this many runs, leave the remaining crons to the next call
-- ARGV[4]  how long the id of a triggered run is remembered, ms
-- Returns  per cron how many runs were forgotten, or {'BROKEN', what failed}; shorter than the list of crons if any are left
--
-- The latest forgotten instant is recorded before anything is deleted, so that a forgotten run is not mistaken for a missed one,
-- even if a broken key ends the work on its cron half-way. The id of a triggered run has no instant to compare: the id itself is
-- remembered while a duplicate of the trigger may still arrive. On a cluster that is moving them, records that are elsewhere
-- already expire by themselves.
-- @include lease/server-time
-- @include remember-ids
-- @include isolate-failure
local KEYS, call = KEYS, redis.call
local keep, most, enough, late = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
-- More than this Lua can't unpack in one go.
local MOST_OPEN = 5000
local looked_at = 0

-- The oldest that are over, beyond those that are still open.
local function oldest_surplus(runs, open)
  local surplus = call('ZCARD', runs) - keep
  if surplus <= 0 then return {} end
  local going = call('ZCARD', open)
  local ids = call('ZRANGE', runs, 0, math.min(surplus, most + math.min(MOST_OPEN, going)) - 1)
  looked_at = looked_at + #ids
  if going == 0 then return ids end
  local looks, found = call('ZMSCORE', open, unpack(ids)), {}
  for i, id in ipairs(ids) do
    if not looks[i] and #found < most then found[#found + 1] = id end
  end
  return found
end

local function note_forgotten(record, instant)
  if instant <= tonumber(call('HGET', record, 'forgotten') or '0') then return end
  call('HSET', record, 'forgotten', string.format('%.0f', instant))
end

local function delete_runs(k, ids)
  local base, gone, asked = string.sub(KEYS[k], 1, -5), {}, {}
  for _, id in ipairs(ids) do
    gone[#gone + 1] = base .. 'run:' .. id
    gone[#gone + 1] = base .. 'items:' .. id
    if string.find(id, '@manual-', 1, true) then asked[#asked + 1] = id end
  end
  if #asked > 0 then remember_ids(KEYS[k + 5], asked, late) end
  call('UNLINK', unpack(gone))
  call('ZREM', KEYS[k + 4], unpack(ids))
  call('ZREM', KEYS[k + 1], unpack(ids))
end

local function forget(k)
  local ids = oldest_surplus(KEYS[k + 1], KEYS[k + 2])
  if #ids > 0 then
    note_forgotten(KEYS[k], tonumber(call('ZSCORE', KEYS[k + 1], ids[#ids])))
    delete_runs(k, ids)
  end
  local range = call('ZRANGE', KEYS[k + 3], -(keep + 1), -(keep + 1), 'WITHSCORES')
  if range[2] then
    note_forgotten(KEYS[k], tonumber(range[2]))
    call('ZREMRANGEBYRANK', KEYS[k + 3], 0, -(keep + 1))
  end
  return #ids
end

local replies = {}
for k = 1, #KEYS, 6 do
  if looked_at >= enough then break end
  replies[#replies + 1] = isolate_failure(forget, k)
end
return replies
