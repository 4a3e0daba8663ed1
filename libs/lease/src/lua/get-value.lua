-- Reads a value, the fence it was written under, and its age.
--
-- KEYS[1]  the value: a hash of value, fence and the time of writing
-- Returns  {value, fence, milliseconds since it was written} | nil
local found = redis.call('HMGET', KEYS[1], 'value', 'fence', 'at')
if not found[1] then
  return nil
end

-- @include server-time
-- A server's clock may go back; an age can't.
return { found[1], found[2], string.format('%.0f', math.max(0, now - tonumber(found[3]))) }
