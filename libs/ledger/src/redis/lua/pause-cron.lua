-- Pauses a cron, or changes the current pause.
--
-- KEYS[1]  cron record
-- KEYS[2]  whether it is noted, see note-cron
-- ARGV[1]  nonce
-- ARGV[2]  until when, epoch ms, or "ever"
-- ARGV[3]  name of the operator
-- ARGV[4]  why
-- ARGV[5]  how long a finished run is kept, ms
-- Returns  {since, until, by, reason}
-- @include lease/server-time
-- @include note-cron
local fields = { 'pausedSince', 'pausedUntil', 'pausedBy', 'pauseReason' }
local cron = redis.call('HMGET', KEYS[1], 'pauseNonce', unpack(fields))
if cron[1] ~= ARGV[1] then
  local at = string.format('%.0f', now)
  -- Changed while in force it is still one pause: no instant since then has run.
  local in_force = cron[3] and (cron[3] == 'ever' or tonumber(cron[3]) > now)
  redis.call('HSET', KEYS[1], 'pauseNonce', ARGV[1], 'pausedSince', in_force and cron[2] or at, 'pausedUntil', ARGV[2],
    'pausedBy', ARGV[3], 'pauseReason', ARGV[4])
  note_pause(KEYS[2], ARGV[5], ARGV[2])
end
return redis.call('HMGET', KEYS[1], unpack(fields))
