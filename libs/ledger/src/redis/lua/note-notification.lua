-- Records a notification that a run has entered a state, if an attempt of the run asked for it when it began. Why it failed, or
-- what a person is asked, is with the run: { error, question }.
--
-- Written in the step that changes the state: if the process dies next, the notification waits for the next worker or
-- sweep. The format stands on a line of its own, where later ones have room for more words. Unsettled notifications are
-- bounded: the oldest are dropped, and counted. Read by redis-run-codec.ts. Expects note-cron before it.
local MAX_NOTIFICATIONS = 1000
local function note_notification(cron, run, at, keep)
  if not run.notify or not string.find(run.notify, run.state, 1, true) then return end
  local key = cron.base .. 'notifications'
  local attempted = tonumber(string.match(run.latest or '', '^%d+ %d+ %-?%d+ (%-?%d+)'))
  redis.call('ZADD', key, at, table.concat({ '2', run.id, run.state, at, run.notify, run.attempt,
    attempted and string.format('%.0f', run.since + attempted) or '', run.question or '', run.error or '' }, '\n'))
  local surplus = redis.call('ZCARD', key) - MAX_NOTIFICATIONS
  if surplus > 0 then
    redis.call('ZREMRANGEBYRANK', key, 0, surplus - 1)
    redis.call('HINCRBY', cron.record, 'droppedNotifications', surplus)
    redis.call('HSET', cron.record, 'droppedNotificationsAt', at)
    note_cron(cron.base .. 'noted', keep)
  end
  redis.call('PEXPIRE', key, keep)
end
