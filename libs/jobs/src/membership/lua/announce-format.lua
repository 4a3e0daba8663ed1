-- Notes which format a process has, and finds the lowest of those that live. Expects server-time before it.
--
-- What it is given: the keys of a deployment { pods, writers, by when each process was last heard; formats, the format of each;
-- highest, ever written by all }, the process, its format, and when a process is gone, ms. Answers nil and the highest format for a
-- process that can't read that one. A pod that announces no format has the first one.
local FIRST_FORMAT = 2

local function announce_format(keys, process, own, gone_after)
  local highest, at = tonumber(redis.call('GET', keys.highest) or '0'), string.format('%.0f', now)
  if own + 1 < highest then return nil, highest end
  local alive = string.format('%.0f', now - gone_after)
  redis.call('ZADD', keys.writers, at, process)
  redis.call('ZADD', keys.formats, own, process)
  -- After a clock went back, dead processes would count until it has caught up.
  for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', keys.writers, '(' .. at, '+inf')) do
    redis.call('ZADD', keys.writers, at, ahead)
  end
  local gone = redis.call('ZRANGEBYSCORE', keys.writers, '-inf', alive, 'LIMIT', '0', '1000')
  if #gone > 0 then
    redis.call('ZREM', keys.writers, unpack(gone))
    redis.call('ZREM', keys.formats, unpack(gone))
  end
  local pods = redis.call('ZRANGEBYSCORE', keys.pods, '(' .. alive, '+inf', 'WITHSCORES')
  for i = 1, #pods, 2 do
    if not redis.call('ZSCORE', keys.formats, pods[i]) then
      redis.call('ZADD', keys.formats, FIRST_FORMAT, pods[i])
      redis.call('ZADD', keys.writers, pods[i + 1], pods[i])
    end
  end
  local lowest = redis.call('ZRANGE', keys.formats, '0', '0', 'WITHSCORES')
  if tonumber(lowest[2]) > highest then redis.call('SET', keys.highest, lowest[2]) end
  return lowest, highest
end
