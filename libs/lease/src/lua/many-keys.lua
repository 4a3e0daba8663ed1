-- Many keys with one command for all: a command each costs more than what is done with them.
--
-- `values` has what was read, by key, `false` for a key that is missing; a key that it lacks is read by itself, which fails for one
-- that holds something else. MGET calls such a key missing too.
local function unreadKeys()
  return { values = {}, writes = {}, gone = {} }
end

local function readKeys(keys)
  local known, missing = unreadKeys(), {}
  for i, value in ipairs(redis.call('MGET', unpack(keys))) do
    known.values[keys[i]] = value
    if not value then missing[#missing + 1] = keys[i] end
  end
  if #missing > 0 and redis.call('EXISTS', unpack(missing)) > 0 then
    for _, key in ipairs(missing) do known.values[key] = nil end
  end
  return known
end

local function readKey(known, key)
  if known.values[key] == nil then known.values[key] = redis.call('GET', key) end
  return known.values[key]
end

-- Written by `writeKeys`; who reads the key until then, reads this.
local function setKey(known, key, value)
  known.values[key] = value
  known.writes[#known.writes + 1] = key
  known.writes[#known.writes + 1] = value
end

local function deleteKey(known, key)
  known.values[key] = false
  known.gone[#known.gone + 1] = key
end

local function writeKeys(known)
  if #known.writes > 0 then redis.call('MSET', unpack(known.writes)) end
  if #known.gone > 0 then redis.call('DEL', unpack(known.gone)) end
end
