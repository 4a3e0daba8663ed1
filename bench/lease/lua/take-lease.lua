-- The least that takes a lease and issues a fence in one step. A yardstick: no clock, no floor, no repeated request.
--
-- KEYS[1]  the lease
-- KEYS[2]  the last fence issued
-- ARGV[1]  nonce of the term
-- ARGV[2]  ttl, milliseconds
-- Returns  the fence | false when somebody else has it
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
return false
