-- Layout of the hash of a run's items. Read by redis-attempt-codec.ts.
--
-- <length>/<effect><key>  "state since error": the length of the effect's name in bytes tells where the key begins
local function item_field(effect, key) return #effect .. '/' .. effect .. key end

local function read_item(items, field)
  local state, since = string.match(redis.call('HGET', items, field) or '', '^(%a+) (%d+) ')
  return state, since
end

local function write_item(items, field, state, since, text)
  redis.call('HSET', items, field, state .. ' ' .. since .. ' ' .. text)
end
