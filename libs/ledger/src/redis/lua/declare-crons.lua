-- Declares crons of one build, all or none, and removes what the build left out when these are the last of them.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  the highest build of each source
-- KEYS[4]  tombstones, by when each may be deleted
-- KEYS[5]  version of the catalog
-- KEYS[6]  when its first change was accepted
-- ARGV[1]  source
-- ARGV[2]  build
-- ARGV[3]  keep a tombstone for, ms
-- ARGV[4]  channel to announce a change on
-- ARGV[5]  a change is effective after, ms
-- ARGV[6]  how many earlier generations are kept
-- ARGV[7]  who, JSON
-- ARGV[8]  1 when no declarations of this call follow in another script, 0 otherwise
-- ARGV[9]  how many declarations follow here
-- ARGV[i * 4 + 6]  name of the i-th cron
-- ARGV[i * 4 + 7]  hash of its declaration
-- ARGV[i * 4 + 8]  its state: active | disabled
-- ARGV[i * 4 + 9]  its definition, JSON
-- Returns  {'CONFLICT', name, source} | {'DECLARED', {word, ...}, {removed name, ...}}, a word a declaration: CHANGED | NOTED
--          | SAME | OLDER
--
-- A lower build defines nothing: an old pod that restarts must not take a deploy back.
-- @include lease/server-time
-- @include judge-declaration
-- @include begin-generation
-- @include drop-tombstones
-- @include announce-change
local build = { source = ARGV[1], seq = tonumber(ARGV[2]), top = tonumber(redis.call('HGET', KEYS[3], ARGV[1]) or '-1') }
local names = {}
for i = 1, tonumber(ARGV[9]) do names[i] = ARGV[i * 4 + 6] end
local known = redis.call('HMGET', KEYS[2], unpack(names))
local words = {}
for i = 1, #names do
  local word, source = judge(known[i], ARGV[i * 4 + 7], build)
  if word == 'CONFLICT' then return { word, names[i], source } end
  words[i] = word
end

local keep, changed, removed = tonumber(ARGV[3]), false, {}
local function write_generation(name, state, definition)
  local next = { state = state, nonce = '', who = ARGV[7], definition = definition,
    effective_after = tonumber(ARGV[5]), kept = tonumber(ARGV[6]) }
  local lines = begin_generation(redis.call('HGET', KEYS[1], name), next)
  if lines then redis.call('HSET', KEYS[1], name, lines) else redis.call('HDEL', KEYS[1], name) end
  changed = true
end

for i = 1, #names do
  if words[i] == 'CHANGED' then
    write_generation(names[i], ARGV[i * 4 + 8], ARGV[i * 4 + 9])
    redis.call('HSET', KEYS[2], names[i], declared_text(ARGV[2], ARGV[i * 4 + 7], 'live', ARGV[1]))
    redis.call('ZREM', KEYS[4], names[i])
  elseif words[i] == 'NOTED' then
    local _, _, state = read_declared(known[i])
    redis.call('HSET', KEYS[2], names[i], declared_text(ARGV[2], ARGV[i * 4 + 7], state, ARGV[1], known[i]))
  end
  -- An hour more than it is kept for: until then the next processes that declare it have nothing to write.
  if words[i] ~= 'CHANGED' and is_tombstone(known[i]) then
    redis.call('ZADD', KEYS[4], string.format('%.0f', now + keep + math.floor(keep / 24)), names[i])
  end
end

-- Last of all, and only now that everything the build declares carries its number: what carries a lower one is left out.
if ARGV[8] == '1' and build.seq > build.top then
  local all = redis.call('HGETALL', KEYS[2])
  for i = 1, #all, 2 do
    local seq, hash, state, source = read_declared(all[i + 1])
    if source == ARGV[1] and state == 'live' and tonumber(seq) < build.seq then
      write_generation(all[i], 'removed', nil)
      redis.call('HSET', KEYS[2], all[i], declared_text(seq, hash, 'dropped', source, all[i + 1]))
      redis.call('ZADD', KEYS[4], string.format('%.0f', now + keep), all[i])
      removed[#removed + 1] = all[i]
    end
  end
  redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
end
if drop_tombstones(KEYS[4], KEYS[1], KEYS[2]) then changed = true end
if changed then announce_change(KEYS[5], KEYS[6], ARGV[4]) end
return { 'DECLARED', words, removed }
