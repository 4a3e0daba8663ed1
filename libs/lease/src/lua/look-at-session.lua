-- Whether a session is live, who holds it and for how long.
--
-- KEYS[1]  the session, as in open-session
-- Returns  {holder, remaining milliseconds} | 'OVER'
local ttl, holder = unpack(redis.call('HMGET', KEYS[1], 'ttl', 'holder'))
if not ttl then return 'OVER' end
local left = redis.call('PTTL', KEYS[1])
-- As with a lease: the server's clock went back, and its terms would be blocked for as long.
if left < 0 or left > 2 * tonumber(ttl) then
  left = tonumber(ttl)
  redis.call('PEXPIRE', KEYS[1], ttl)
end
return { holder, string.format('%.0f', left) }
