-- Remembers that a run id was used, beside its record: an idempotency key for its life, the id of a forgotten trigger for as
-- long as a duplicate may still come. Each id has its own end; the set is gone after the last one.
local function remember_id(used, id, ms)
  local now_text = string.format('%.0f', now)
  local known = tonumber(redis.call('ZSCORE', used, id) or '') or 0
  if now + ms > known then redis.call('ZADD', used, string.format('%.0f', now + ms), id) end
  local over = redis.call('ZRANGEBYSCORE', used, '-inf', now_text, 'LIMIT', 0, 100)
  if #over > 0 then redis.call('ZREM', used, unpack(over)) end
  if redis.call('PTTL', used) < ms then redis.call('PEXPIRE', used, string.format('%.0f', ms)) end
end
