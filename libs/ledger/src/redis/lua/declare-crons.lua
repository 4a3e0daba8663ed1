-- Declares crons of one build, all or none. See drop-left-out.lua for those that the build leaves out.
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
-- ARGV[8]  how many declarations follow
-- ARGV[i * 4 + 5]  name of the i-th cron
-- ARGV[i * 4 + 6]  hash of its declaration
-- ARGV[i * 4 + 7]  its state: active | disabled
-- ARGV[i * 4 + 8]  its definition, JSON
-- Returns  {'CONFLICT', name, source} | {'DECLARED', {word, ...}}, a word a declaration: CHANGED | NOTED | SAME | OLDER
--
-- A lower build defines nothing: an old pod that restarts must not take a deploy back.
-- @include lease/server-time
-- @include judge-declaration
-- @include begin-generation
-- @include drop-tombstones
-- @include announce-change
local build = { source = ARGV[1], seq = tonumber(ARGV[2]), top = tonumber(redis.call('HGET', KEYS[3], ARGV[1]) or '-1') }
local names = {}
for i = 1, tonumber(ARGV[8]) do names[i] = ARGV[i * 4 + 5] end
local known = redis.call('HMGET', KEYS[2], unpack(names))
local words = {}
for i = 1, #names do
  local word, source = judge(known[i], ARGV[i * 4 + 6], build)
  if word == 'CONFLICT' then return { word, names[i], source } end
  words[i] = word
end

local keep, changed = tonumber(ARGV[3]), {}
local next = { nonce = '', who = ARGV[7], effective_after = tonumber(ARGV[5]), kept = tonumber(ARGV[6]) }
for i = 1, #names do
  if words[i] == 'CHANGED' then
    next.state, next.definition = ARGV[i * 4 + 7], ARGV[i * 4 + 8]
    redis.call('HSET', KEYS[1], names[i], (begin_generation(redis.call('HGET', KEYS[1], names[i]), next)))
    changed[#changed + 1] = names[i]
    redis.call('HSET', KEYS[2], names[i], declared_text(ARGV[2], ARGV[i * 4 + 6], 'live', ARGV[1]))
    redis.call('ZREM', KEYS[4], names[i])
  elseif words[i] == 'NOTED' then
    local _, _, state = read_declared(known[i])
    redis.call('HSET', KEYS[2], names[i], declared_text(ARGV[2], ARGV[i * 4 + 6], state, ARGV[1], known[i]))
  end
  -- An hour more than it is kept for: until then the next processes that declare it have nothing to write.
  if words[i] ~= 'CHANGED' and is_tombstone(known[i]) then
    redis.call('ZADD', KEYS[4], string.format('%.0f', now + keep + math.floor(keep / 24)), names[i])
  end
end

drop_tombstones(KEYS[4], KEYS[1], KEYS[2], changed)
if #changed > 0 then announce_change({ version = KEYS[5], born = KEYS[6], changes = KEYS[7] }, changed, ARGV[4]) end
return { 'DECLARED', words }
