-- Reads some fields of a hash, as HGETALL answers; a field that isn't there is left out, and added to the list of those.
local function read_fields(key, names, missing)
  local found = {}
  if #names == 0 then return found end
  for i, value in ipairs(redis.call('HMGET', key, unpack(names))) do
    if value then
      found[#found + 1] = names[i]
      found[#found + 1] = value
    elseif missing then
      missing[#missing + 1] = names[i]
    end
  end
  return found
end
