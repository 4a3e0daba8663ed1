-- Reads the records of many crons.
-- Its reply is decoded by redis-occurrence-codec.ts.
--
-- KEYS[i]  cron record
-- Returns  per cron {fence, cursor, generation, refusals, since, until, by, reason, count, at}: four of its pause, and how many
--          notifications were dropped and when the latest was; without those at the end that it has not, so that of a cron without
--          a record nothing is left
--
-- A pause that has run out is left out, by the store's clock.
-- @include lease/server-time
local crons = {}
for i = 1, #KEYS do
  local cron = redis.call('HMGET', KEYS[i], 'fence', 'cursor', 'generation', 'refusals', 'pausedSince', 'pausedUntil',
    'pausedBy', 'pauseReason', 'droppedNotifications', 'droppedNotificationsAt')
  if cron[6] and cron[6] ~= 'ever' and tonumber(cron[6]) <= now then cron[6] = false end
  while #cron > 0 and not cron[#cron] do cron[#cron] = nil end
  crons[i] = cron
end
return crons
