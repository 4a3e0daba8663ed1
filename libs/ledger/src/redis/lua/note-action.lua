-- Records an operator's action on a cron: the newest first, the last thousand. Read by redis-run-codec.ts.
local function note_action(key, at, action)
  redis.call('LPUSH', key, at .. ' ' .. action)
  redis.call('LTRIM', key, 0, 999)
end
