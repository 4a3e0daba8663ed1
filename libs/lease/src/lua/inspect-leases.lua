-- Reads the holder of each resource and its remaining time; changes nothing.
--
-- KEYS[i]  the lease of the i-th resource, as in acquire-lease
-- Returns  for each resource in order {holder, fence, remaining milliseconds, held since} | {session, fence, '', held
--          since} for a term that lives with a session | false, also for one that is
--          reserved for a waiter
local holdings = {}
for i = 1, #KEYS do
  local term = redis.call('GET', KEYS[i]) or ''
  local session, owned, began = term:match('^%S+ @(%S+) (%d+) (%d+) ')
  local fence, since, holder = term:match('^%S+ %d+ ([1-9]%d*) (%d+) ([^\n]*)')
  -- `false` and not `nil`: a reply ends at its first nil.
  local left = fence and string.format('%.0f', math.max(0, redis.call('PTTL', KEYS[i])))
  holdings[i] = session and { session, owned, '', began } or fence and { holder, fence, left, since } or false
end
return holdings
