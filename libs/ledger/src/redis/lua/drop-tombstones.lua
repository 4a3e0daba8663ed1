-- Deletes the crons that were removed, and that no process has declared, for longer than a tombstone is kept. Adds their names to
-- a list.
--
-- At most 250 at once: the next change deletes the rest.
local function drop_tombstones(tombstones, crons, declared, names)
  local over = redis.call('ZRANGEBYSCORE', tombstones, '-inf', string.format('(%.0f', now), 'LIMIT', '0', '250')
  if #over == 0 then return end
  redis.call('ZREM', tombstones, unpack(over))
  redis.call('HDEL', crons, unpack(over))
  redis.call('HDEL', declared, unpack(over))
  for _, name in ipairs(over) do names[#names + 1] = name end
end
