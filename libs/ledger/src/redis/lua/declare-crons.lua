-- Puts the definitions of one revision of an app in force, each unless another one decides. See drop-crons.lua for removals.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  tombstones, by when each may be deleted
-- KEYS[4]  version of the catalog
-- KEYS[5]  when its first change was accepted
-- KEYS[6]  changes, by version
-- ARGV[1]  app
-- ARGV[2]  order of its revision
-- ARGV[3]  revisions that are gone, a line each
-- ARGV[4]  1: no process of a former release is live
-- ARGV[5]  keep a tombstone for, ms
-- ARGV[6]  channel to announce a change on
-- ARGV[7]  a change is effective after, ms
-- ARGV[8]  how many earlier generations are kept
-- ARGV[9]  who, JSON, a line for each of: created and changed, reverted, restored, taken
-- ARGV[10]  nonce of this call, or empty
-- ARGV[11]  how many declarations follow
-- ARGV[i * 4 + 8]  name of the i-th cron
-- ARGV[i * 4 + 9]  hash of its declaration
-- ARGV[i * 4 + 10]  its state: active | disabled
-- ARGV[i * 4 + 11]  its definition, JSON
-- Returns  {word, ...}, what judge-declaration answers for each
--
-- A generation keeps the nonce of the call that began it, and behind it the word that was answered, as a digit.
-- @include lease/server-time
-- @include judge-declaration
-- @include begin-generation
-- @include drop-tombstones
-- @include announce-change
local by, who = declarer(ARGV[1], ARGV[2], ARGV[3], ARGV[4]), {}
for line in string.gmatch(ARGV[9], '[^\n]+') do who[#who + 1] = line end
local WHO = { created = who[1], changed = who[1], reverted = who[2], restored = who[3], taken = who[4] }
local WORDS, nonce = { 'created', 'changed', 'reverted', 'restored', 'taken' }, ARGV[10]
local digits = {}
for digit, word in ipairs(WORDS) do digits[word] = digit end

-- What this call answered for a cron when it was sent before; nil for nothing.
local function answered(name)
  if nonce == '' then return nil end
  for line in string.gmatch(redis.call('HGET', KEYS[1], name) or '', '[^\n]+') do
    local kept, digit = string.match(line, '^%d+@?%d*\t%d+\t%a+\t([^\t]*)(%d)\t')
    if kept == nonce then return WORDS[tonumber(digit)] end
  end
end

local names = {}
for i = 1, tonumber(ARGV[11]) do names[i] = ARGV[i * 4 + 8] end
local known = redis.call('HMGET', KEYS[2], unpack(names))

local words, keep, changed = {}, tonumber(ARGV[5]), {}
local next = { effective_after = tonumber(ARGV[7]), kept = tonumber(ARGV[8]) }
for i = 1, #names do
  local hash = ARGV[i * 4 + 9]
  words[i] = judge(known[i], hash, by)
  if WHO[words[i]] then
    next.who, next.state, next.definition = WHO[words[i]], ARGV[i * 4 + 10], ARGV[i * 4 + 11]
    next.nonce = nonce == '' and '' or nonce .. digits[words[i]]
    redis.call('HSET', KEYS[1], names[i], (begin_generation(redis.call('HGET', KEYS[1], names[i]), next)))
    changed[#changed + 1] = names[i]
    redis.call('HSET', KEYS[2], names[i], declared_text(ARGV[2], hash, 'live', ARGV[1]))
    redis.call('ZREM', KEYS[3], names[i])
  elseif words[i] == 'noted' then
    local _, known_hash = read_declared(known[i])
    -- Its texts are yet to come, and are known already.
    if lacks_texts(hash, known_hash) then hash = known_hash end
    redis.call('HSET', KEYS[2], names[i], declared_text(ARGV[2], hash, 'live', ARGV[1], known[i]))
  elseif not is_tombstone(known[i]) then
    words[i] = answered(names[i]) or words[i]
  else
    -- An hour more than it is kept for: until then the next processes that declare it have nothing to write.
    redis.call('ZADD', KEYS[3], string.format('%.0f', now + keep + math.floor(keep / 24)), names[i])
  end
end

drop_tombstones(KEYS[3], KEYS[1], KEYS[2], changed)
if #changed > 0 then announce_change({ version = KEYS[4], born = KEYS[5], changes = KEYS[6] }, changed, ARGV[6]) end
return words
