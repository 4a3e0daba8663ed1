-- The least that renews many leases without renewing somebody else's, and says which were lost.
--
-- KEYS[i]  the i-th lease
-- ARGV[1]  ttl from now on, milliseconds
-- ARGV[i + 1]  nonce of the i-th term
-- Returns  the places of those that were not ours, {} when all were
local held = redis.call('MGET', unpack(KEYS))
local lost = {}
for i = 1, #KEYS do
  if held[i] == ARGV[i + 1] then
    redis.call('PEXPIRE', KEYS[i], ARGV[1])
  else
    lost[#lost + 1] = i
  end
end
return lost
