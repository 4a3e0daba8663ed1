-- Removes crons of an app whose definition in force is of a revision without a live pod.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  tombstones, by when each may be deleted
-- KEYS[4]  version of the catalog
-- KEYS[5]  when its first change was accepted
-- KEYS[6]  changes, by version
-- ARGV[1]  app
-- ARGV[2]  order of the revision that removes
-- ARGV[3]  revisions that are gone, a line each
-- ARGV[4]  1: no process of a former release is live
-- ARGV[5]  keep a tombstone for, ms
-- ARGV[6]  channel to announce a change on
-- ARGV[7]  a change is effective after, ms
-- ARGV[8]  how many earlier generations are kept
-- ARGV[9]  who, JSON
-- ARGV[10]  nonce of this call, or empty
-- ARGV[11]  how many names follow
-- ARGV[i + 11]  name of the i-th cron
-- Returns  {removed name, ...}
--
-- A cron that a live revision has declared meanwhile is left alone: its record names that revision.
-- @include lease/server-time
-- @include declared-record
-- @include is-gone
-- @include begin-generation
-- @include announce-change
local by, removed, changed = declarer(ARGV[1], ARGV[2], ARGV[3], ARGV[4]), {}, {}
local next = { state = 'removed', nonce = ARGV[10], who = ARGV[9], effective_after = tonumber(ARGV[7]), kept = tonumber(ARGV[8]) }
local function nonce_of(name)
  return string.match(redis.call('HGET', KEYS[1], name) or '', '^%d+@?%d*\t%d+\t%a+\t([^\t]*)\t')
end

for i = 1, tonumber(ARGV[11]) do
  local name = ARGV[i + 11]
  local known = redis.call('HGET', KEYS[2], name) or ''
  local order, hash, state, app = read_declared(known)
  if state == 'live' and owns(app, tonumber(order), by) and is_gone(app, tonumber(order), by) then
    local lines = begin_generation(redis.call('HGET', KEYS[1], name), next)
    if lines then redis.call('HSET', KEYS[1], name, lines) else redis.call('HDEL', KEYS[1], name) end
    redis.call('HSET', KEYS[2], name, declared_text(order, hash, 'dropped', app, known))
    redis.call('ZADD', KEYS[3], string.format('%.0f', now + tonumber(ARGV[5])), name)
    removed[#removed + 1] = name
    changed[#changed + 1] = name
  elseif ARGV[10] ~= '' and nonce_of(name) == ARGV[10] then
    -- Sent again after a lost reply.
    removed[#removed + 1] = name
  end
end
if #changed > 0 then announce_change({ version = KEYS[4], born = KEYS[5], changes = KEYS[6] }, changed, ARGV[6]) end
return removed
