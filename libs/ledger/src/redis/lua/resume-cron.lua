-- Ends the current pause of a cron.
--
-- KEYS[1]  cron record
-- KEYS[2]  whether it is noted, see note-cron
-- ARGV[1]  nonce
-- ARGV[2]  how long a finished run is kept, ms
-- Returns  the pause that ended, as {since, until, by, reason} | {} when there was none
--
-- The ended pause stays recorded, without "pausedUntil", for a repeated call.
-- @include lease/server-time
-- @include note-cron
local cron = redis.call('HMGET', KEYS[1], 'resumeNonce', 'resumedUntil', 'pausedSince', 'pausedUntil', 'pausedBy',
  'pauseReason')
local ended = cron[2]
if cron[1] ~= ARGV[1] then
  local in_force = cron[4] and (cron[4] == 'ever' or tonumber(cron[4]) > now)
  ended = in_force and cron[4] or ''
  redis.call('HSET', KEYS[1], 'resumeNonce', ARGV[1], 'resumedUntil', ended)
  redis.call('HDEL', KEYS[1], 'pausedUntil')
  note_pause(KEYS[2], ARGV[2], '')
end
if ended == '' then return {} end
return { cron[3], ended, cron[5], cron[6] }
