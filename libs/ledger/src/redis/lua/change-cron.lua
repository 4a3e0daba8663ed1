-- Makes, changes or removes one cron at run time, unless another change came first.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  the highest build of each source
-- KEYS[4]  tombstones, by when each may be deleted
-- KEYS[5]  version of the catalog
-- KEYS[6]  when its first change was accepted
-- ARGV[1]  name of the cron
-- ARGV[2]  the generation that is to be replaced, or empty for a cron that isn't there
-- ARGV[3]  nonce of this call
-- ARGV[4]  state: active | disabled | removed
-- ARGV[5]  hash of its declaration, or empty for removed
-- ARGV[6]  its definition, JSON, or empty for removed
-- ARGV[7]  who, JSON
-- ARGV[8]  keep a tombstone for, ms
-- ARGV[9]  channel to announce a change on
-- ARGV[10] a change is effective after, ms
-- ARGV[11] how many earlier generations are kept
-- Returns  {'ACCEPTED', generation, since} | {'MOVED', generation}, the generation empty for a cron that isn't there
-- @include lease/server-time
-- @include declared-record
-- @include begin-generation
-- @include drop-tombstones
-- @include announce-change
-- Whether the newest generation is a definition; see catalog-record.ts.
local function is_readable(record)
  local who, definition = string.match(record, '^%d+@?%d*\t%d+\t%a+\t[^\t\n]*\t([^\t\n]*)\t([^\t\n]*)')
  if not who then return false end
  local fine, decoded = pcall(cjson.decode, definition)
  if not (fine and pcall(cjson.decode, who) and type(decoded) == 'table' and decoded.name == ARGV[1]) then return false end
  for _, option in ipairs({ 'expression', 'timeZone', 'misfire', 'overlap' }) do
    if type(decoded[option]) ~= 'string' then return false end
  end
  local window = decoded.catchUpWindowMs
  return type(decoded.graceMs) == 'number' and (window == cjson.null or type(window) == 'number')
end

local lines = redis.call('HGET', KEYS[1], ARGV[1])
for line in string.gmatch(lines or '', '[^\n]+') do
  local generation, since, nonce = string.match(line, '^(%d+)@?%d*\t(%d+)\t%a+\t([^\t]*)\t')
  -- Sent again after a lost reply: it was this call that was faster than itself.
  if nonce == ARGV[3] then return { 'ACCEPTED', generation, since } end
end
local newest, state = string.match(lines or '', '^(%d+)@?%d*\t%d+\t(%a+)')
local present = (newest and state ~= 'removed') and newest or ''
local removes = ARGV[4] == 'removed'
-- No pod can have used an unreadable generation. It leaves no tombstone: code that declares the cron brings it back.
if lines and removes and ARGV[2] == '' and not is_readable(lines) then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[4], ARGV[1])
  announce_change(KEYS[5], KEYS[6], ARGV[9])
  return { 'ACCEPTED', newest or '0', string.format('%.0f', now) }
end
if present ~= ARGV[2] or (removes and present == '') then return { 'MOVED', present } end

local definition = ARGV[6]
if removes then definition = nil end
local next = { state = ARGV[4], nonce = ARGV[3], who = ARGV[7], definition = definition,
  effective_after = tonumber(ARGV[10]), kept = tonumber(ARGV[11]) }
local written, generation, since = begin_generation(lines, next)
redis.call('HSET', KEYS[1], ARGV[1], written)

local known = redis.call('HGET', KEYS[2], ARGV[1]) or '2 0 0 dropped '
local seq, hash, was, source = read_declared(known)
-- A cron that the code left out and an operator brought back belongs to the operator: the next build must not remove it.
local left_out = tonumber(seq) < tonumber(redis.call('HGET', KEYS[3], source) or '0')
if was == 'dropped' or (was == 'removed' and left_out) then seq, source = '0', '' end
-- What the code declares keeps the hash of what it declared: that is what its next declaration is compared with.
if source == '' and not removes then hash = ARGV[5] end
redis.call('HSET', KEYS[2], ARGV[1], declared_text(seq, hash, removes and 'removed' or 'live', source))
if removes then
  redis.call('ZADD', KEYS[4], string.format('%.0f', now + tonumber(ARGV[8])), ARGV[1])
else
  redis.call('ZREM', KEYS[4], ARGV[1])
end
drop_tombstones(KEYS[4], KEYS[1], KEYS[2])
announce_change(KEYS[5], KEYS[6], ARGV[9])
return { 'ACCEPTED', generation, since }
