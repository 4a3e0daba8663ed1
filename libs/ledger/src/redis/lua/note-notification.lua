-- Records a notification that a run has entered a state, if an attempt of the run asked for it when it began.
--
-- Written in the step that changes the state: if the process dies next, the notification waits for the next worker or
-- sweep. Unsettled notifications are bounded: the oldest are dropped, and counted. Read by redis-run-codec.ts.
local MAX_NOTIFICATIONS = 1000
local function note_notification(base, id, state, at, keep)
  local run = redis.call('HMGET', base .. 'run:' .. id, 'notify', 'attempt', 'attemptedAt', 'question', 'error')
  if not run[1] or not string.find(run[1], state, 1, true) then return end
  local key = base .. 'notifications'
  redis.call('ZADD', key, at, table.concat({ id, state, at, run[1], run[2], run[3] or '', run[4] or '', run[5] or '' }, '\n'))
  local surplus = redis.call('ZCARD', key) - MAX_NOTIFICATIONS
  if surplus > 0 then
    redis.call('ZREMRANGEBYRANK', key, 0, surplus - 1)
    redis.call('HINCRBY', base .. 'cron', 'droppedNotifications', surplus)
    redis.call('HSET', base .. 'cron', 'droppedNotificationsAt', at)
  end
  redis.call('PEXPIRE', key, keep)
end
