-- Reads the catalog, or some crons of it, as of one moment of the store's clock.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  version of the catalog
-- KEYS[4]  when its first change was accepted
-- ARGV[1]  all | some
-- ARGV[2]  of all: unless there are more than so many; of some: the first of their names
-- Returns  {version, epoch ms, {name, generations, ...}, {name, declared, ...}, born, epoch ms, or empty}; of too many, nil for both
--          lists
-- @include lease/server-time
local version = redis.call('GET', KEYS[3]) or '0'
local born = redis.call('GET', KEYS[4]) or ''

-- As HGETALL answers; what is not there is left out.
local function read(key)
  if ARGV[1] == 'all' then return redis.call('HGETALL', key) end
  local names, found = { unpack(ARGV, 2) }, {}
  if #names == 0 then return found end
  for i, value in ipairs(redis.call('HMGET', key, unpack(names))) do
    if value then
      found[#found + 1] = names[i]
      found[#found + 1] = value
    end
  end
  return found
end

local crons, declared = false, false
if ARGV[1] == 'some' or redis.call('HLEN', KEYS[1]) <= tonumber(ARGV[2]) then
  crons, declared = read(KEYS[1]), read(KEYS[2])
end
return { version, string.format('%.0f', now), crons, declared, born }
