-- Removes crons that a build of a program leaves out, some at a time, and notes at the last of them that it is the highest.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  the highest build of each source
-- KEYS[4]  tombstones, by when each may be deleted
-- KEYS[5]  version of the catalog
-- KEYS[6]  when its first change was accepted
-- KEYS[7]  changes, by version
-- ARGV[1]  source
-- ARGV[2]  build
-- ARGV[3]  keep a tombstone for, ms
-- ARGV[4]  channel to announce a change on
-- ARGV[5]  a change is effective after, ms
-- ARGV[6]  how many earlier generations are kept
-- ARGV[7]  who, JSON
-- ARGV[8]  where to go on, 0 at first
-- ARGV[9]  about how many records to look at
-- Returns  {where to go on, 0 after the last, {removed name, ...}}
--
-- To be called when everything that the build declares carries its number: what carries a lower one is left out. A crash before the
-- last page leaves the build unnoted, so that its next declaration begins anew.
-- @include lease/server-time
-- @include declared-record
-- @include begin-generation
-- @include announce-change
local build, removed = tonumber(ARGV[2]), {}
if tonumber(redis.call('HGET', KEYS[3], ARGV[1]) or '-1') >= build then return { '0', removed } end

local page = redis.call('HSCAN', KEYS[2], ARGV[8], 'COUNT', ARGV[9])
local next = { state = 'removed', nonce = '', who = ARGV[7], effective_after = tonumber(ARGV[5]), kept = tonumber(ARGV[6]) }
for i = 1, #page[2], 2 do
  local name, known = page[2][i], page[2][i + 1]
  local seq, hash, state, source = read_declared(known)
  if source == ARGV[1] and state == 'live' and tonumber(seq) < build then
    local lines = begin_generation(redis.call('HGET', KEYS[1], name), next)
    if lines then redis.call('HSET', KEYS[1], name, lines) else redis.call('HDEL', KEYS[1], name) end
    redis.call('HSET', KEYS[2], name, declared_text(seq, hash, 'dropped', source, known))
    redis.call('ZADD', KEYS[4], string.format('%.0f', now + tonumber(ARGV[3])), name)
    removed[#removed + 1] = name
  end
end
if page[1] == '0' then redis.call('HSET', KEYS[3], ARGV[1], ARGV[2]) end
if #removed > 0 then announce_change({ version = KEYS[5], born = KEYS[6], changes = KEYS[7] }, removed, ARGV[4]) end
return { page[1], removed }
