-- Deletes the crons that were removed, and that no process has declared, for longer than a tombstone is kept.
--
-- At most a thousand at once: the next change deletes the rest.
local function drop_tombstones(tombstones, crons, declared)
  local over = redis.call('ZRANGEBYSCORE', tombstones, '-inf', string.format('(%.0f', now), 'LIMIT', '0', '1000')
  if #over == 0 then return false end
  redis.call('ZREM', tombstones, unpack(over))
  redis.call('HDEL', crons, unpack(over))
  redis.call('HDEL', declared, unpack(over))
  return true
end
