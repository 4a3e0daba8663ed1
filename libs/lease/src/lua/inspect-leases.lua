-- Shows who holds each resource, and for how long; changes nothing.
--
-- KEYS[i]  the lease of the i-th resource
-- Returns  for each resource in order {holder, fence, remaining milliseconds} | false
local holdings = {}
for i = 1, #KEYS do
  local term = redis.call('HMGET', KEYS[i], 'holder', 'fence')
  -- `false` and not `nil`: a reply ends at its first nil.
  holdings[i] = term[1] and { term[1], term[2], string.format('%.0f', math.max(0, redis.call('PTTL', KEYS[i]))) }
end
return holdings
