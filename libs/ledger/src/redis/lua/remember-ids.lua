-- Remembers that run ids were used, beside their records: an idempotency key for its life, the id of a forgotten trigger for as
-- long as a duplicate may still come. Each id has its own end; the set is gone after the last one.
local function remember_ids(used, ids, ms)
  local until_when, words = string.format('%.0f', now + ms), {}
  for _, id in ipairs(ids) do
    words[#words + 1] = until_when
    words[#words + 1] = id
  end
  redis.call('ZADD', used, 'GT', unpack(words))
  -- Twice as many as come, so that they become fewer, and no more than takes a millisecond.
  local past = redis.call('ZRANGEBYSCORE', used, '-inf', string.format('%.0f', now), 'LIMIT', 0, 100 + 2 * #ids)
  if #past > 0 then redis.call('ZREM', used, unpack(past)) end
  if redis.call('PTTL', used) < ms then redis.call('PEXPIRE', used, string.format('%.0f', ms)) end
end
