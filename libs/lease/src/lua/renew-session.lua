-- Extends a session, and never creates one. Says which of its terms were taken.
--
-- KEYS[1]  the session, as in open-session
-- ARGV[1]  ttl from now on, milliseconds
-- ARGV[2 * i]  resource of the i-th taken term that the holder knows of
-- ARGV[2 * i + 1]  its nonce
-- Returns  'OVER' | the taken terms that the holder does not know of: resource, nonce, resource, nonce …
--
-- The nonce of the session is its key.
-- @include check-number
checkNumber('ttl', ARGV[1], 1)
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 0 then return 'OVER' end
for i = 1, (#ARGV - 1) / 2 do
  local field = '=' .. ARGV[2 * i]
  -- A later term of the same resource may have been taken since.
  if redis.call('HGET', KEYS[1], field) == ARGV[2 * i + 1] then redis.call('HDEL', KEYS[1], field) end
end
local fields = redis.call('HGETALL', KEYS[1])
local taken = {}
for i = 1, #fields, 2 do
  local resource = fields[i]:match('^=(.*)$')
  if resource then
    taken[#taken + 1] = resource
    taken[#taken + 1] = fields[i + 1]
  end
end
return taken
