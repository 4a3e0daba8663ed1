-- Reads the holder of each resource and its remaining time; changes nothing.
--
-- KEYS[i]  the lease of the i-th resource: '<nonce> <ttl> <fence> <since> <holder>'
-- Returns  for each resource in order {holder, fence, remaining milliseconds, held since} | false
local holdings = {}
for i = 1, #KEYS do
  local term = redis.call('GET', KEYS[i])
  local fence, since, holder = (term or ''):match('^%S+ %d+ (%d+) (%d+) (.*)$')
  -- `false` and not `nil`: a reply ends at its first nil.
  local left = fence and string.format('%.0f', math.max(0, redis.call('PTTL', KEYS[i])))
  holdings[i] = fence and { holder, fence, left, since } or false
end
return holdings
