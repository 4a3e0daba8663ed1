-- Notes what an operator did to a cron, the newest first, the last thousand of them. Read by redis-run-codec.ts.
local function note_action(key, at, action)
  redis.call('LPUSH', key, at .. ' ' .. action)
  redis.call('LTRIM', key, 0, 999)
end
