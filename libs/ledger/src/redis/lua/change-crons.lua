-- Makes, changes or removes crons at run time, each unless another change came first.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  tombstones, by when each may be deleted
-- KEYS[4]  version of the catalog
-- KEYS[5]  when its first change was accepted
-- KEYS[6]  changes, by version
-- ARGV[1]  nonce of this call
-- ARGV[2]  who, JSON
-- ARGV[3]  keep a tombstone for, ms
-- ARGV[4]  channel to announce a change on
-- ARGV[5]  a change is effective after, ms
-- ARGV[6]  how many earlier generations are kept
-- ARGV[7]  how many crons there may be before a new one is refused, or empty
-- ARGV[i * 5 + 3]  name of the i-th cron
-- ARGV[i * 5 + 4]  the generation that is to be replaced, * for any, or empty for a cron that isn't there
-- ARGV[i * 5 + 5]  state: active | disabled | removed
-- ARGV[i * 5 + 6]  hash of its declaration, or empty for removed
-- ARGV[i * 5 + 7]  its definition, JSON, or empty for removed
-- Returns  a list in the order of the crons: {'ACCEPTED', generation, since} | {'MOVED', generation} | {'UNCHANGED', generation}
--          | {'FULL', count}, the generation empty for a cron that isn't there
-- @include lease/server-time
-- @include declared-record
-- @include begin-generation
-- @include drop-tombstones
-- @include announce-change
-- Whether the newest generation is a definition; see catalog-record.ts.
local function is_readable(record, name)
  local who, definition = string.match(record, '^%d+@?%d*\t%d+\t%a+\t[^\t\n]*\t([^\t\n]*)\t([^\t\n]*)')
  if not who then return false end
  local fine, decoded = pcall(cjson.decode, definition)
  if not (fine and pcall(cjson.decode, who) and type(decoded) == 'table' and decoded.name == name) then return false end
  for _, option in ipairs({ 'expression', 'timeZone', 'misfire', 'overlap' }) do
    if type(decoded[option]) ~= 'string' then return false end
  end
  local window = decoded.catchUpWindowMs
  return type(decoded.graceMs) == 'number' and (window == cjson.null or type(window) == 'number')
end

local changed, max = {}, tonumber(ARGV[7])

local function forget(name, newest)
  redis.call('HDEL', KEYS[1], name)
  redis.call('HDEL', KEYS[2], name)
  redis.call('ZREM', KEYS[3], name)
  changed[#changed + 1] = name
  return { 'ACCEPTED', newest or '0', string.format('%.0f', now) }
end

local function write(change, lines, known)
  local removes = change.state == 'removed'
  local written, generation, since = begin_generation(lines, change)
  redis.call('HSET', KEYS[1], change.name, written)
  local order, hash, was, app = read_declared(known)
  -- A removed cron that an operator brings back is the operator's, until code declares it.
  if was ~= 'live' then order, app = '0', '' end
  -- What the code declares keeps the hash of what it declared: that is what its next declaration is compared with.
  if app == '' and not removes then hash = change.hash end
  -- A declared cron comes back when a pod declares it again.
  local state = removes and (app == '' and 'removed' or 'dropped') or 'live'
  redis.call('HSET', KEYS[2], change.name, declared_text(order, hash, state, app, known))
  if removes then
    redis.call('ZADD', KEYS[3], string.format('%.0f', now + tonumber(ARGV[3])), change.name)
  elseif was ~= 'live' then
    redis.call('ZREM', KEYS[3], change.name)
  end
  changed[#changed + 1] = change.name
  return { 'ACCEPTED', generation, since }
end

local function change_cron(change)
  local lines = redis.call('HGET', KEYS[1], change.name) or ''
  for line in string.gmatch(lines, '[^\n]+') do
    local generation, since, nonce = string.match(line, '^(%d+)@?%d*\t(%d+)\t%a+\t([^\t]*)\t')
    -- Sent again after a lost reply: it was this call that was faster than itself.
    if nonce == change.nonce then return { 'ACCEPTED', generation, since } end
  end
  local newest, state = string.match(lines, '^(%d+)@?%d*\t%d+\t(%a+)')
  local present = (newest and state ~= 'removed') and newest or ''
  local removes, any = change.state == 'removed', change.expected == '*'
  -- No pod can have used an unreadable generation. It leaves no tombstone: code that declares the cron brings it back.
  if lines ~= '' and removes and (any or change.expected == '') and not is_readable(lines, change.name) then
    return forget(change.name, newest)
  end
  if any and removes and present == '' then return { 'UNCHANGED', '' } end
  if not any and (present ~= change.expected or (removes and present == '')) then return { 'MOVED', present } end
  if any and state == change.state and string.match(lines, '^[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t([^\t\n]*)') == change.definition then
    return { 'UNCHANGED', present }
  end
  if max and present == '' then
    local count = redis.call('HLEN', KEYS[1]) - redis.call('ZCARD', KEYS[3])
    if count >= max then return { 'FULL', string.format('%d', count) } end
  end
  if removes then change.definition = nil end
  return write(change, lines ~= '' and lines or nil, redis.call('HGET', KEYS[2], change.name) or '2 0 0 dropped ')
end

local replies = {}
for i = 1, (#ARGV - 7) / 5 do
  replies[i] = change_cron({
    name = ARGV[i * 5 + 3], expected = ARGV[i * 5 + 4], state = ARGV[i * 5 + 5], hash = ARGV[i * 5 + 6],
    definition = ARGV[i * 5 + 7], nonce = string.format('%s.%d', ARGV[1], i), who = ARGV[2],
    effective_after = tonumber(ARGV[5]), kept = tonumber(ARGV[6]),
  })
end
if #changed > 0 then
  drop_tombstones(KEYS[3], KEYS[1], KEYS[2], changed)
  announce_change({ version = KEYS[4], born = KEYS[5], changes = KEYS[6] }, changed, ARGV[4])
end
return replies
