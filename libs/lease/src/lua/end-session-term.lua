-- Ends a term that lives with a session. Its record is the only place of the fence, so the counter is written before the
-- record goes.
local function endSessionTerm(leaseKey, fenceKey, fence)
  local stored = redis.call('GET', fenceKey)
  if not stored or (tonumber(stored) or 0) < tonumber(fence) then
    redis.call('SET', fenceKey, fence)
  end
  return redis.call('DEL', leaseKey)
end
