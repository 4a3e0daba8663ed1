-- Ends the pause of a cron that is in force.
--
-- KEYS[1]  cron record
-- KEYS[2]  what operators did to the cron
-- ARGV[1]  nonce
-- ARGV[2]  what is to be noted of it
-- Returns  the pause that ended, as {since, until, by, reason} | {} when there was none
--
-- What the pause was stays for when the call is sent again; without "pausedUntil" it is none.
-- @include note-action
-- @include lease/server-time
local cron = redis.call('HMGET', KEYS[1], 'resumeNonce', 'resumedUntil', 'pausedSince', 'pausedUntil', 'pausedBy',
  'pauseReason')
local ended = cron[2]
if cron[1] ~= ARGV[1] then
  local in_force = cron[4] and (cron[4] == 'ever' or tonumber(cron[4]) > now)
  ended = in_force and cron[4] or ''
  redis.call('HSET', KEYS[1], 'resumeNonce', ARGV[1], 'resumedUntil', ended)
  redis.call('HDEL', KEYS[1], 'pausedUntil')
  if in_force then note_action(KEYS[2], string.format('%.0f', now), ARGV[2]) end
end
if ended == '' then return {} end
return { cron[3], ended, cron[5], cron[6] }
