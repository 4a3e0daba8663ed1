-- Notes that a cron may need a person, where the sets of its open and failed runs don't show it: an examination of ten thousand
-- crons asks which of these keys exist, and reads the few crons that have one. Each function gets that key, and how long a
-- finished run is kept.
local A_DAY = 86400000

-- For a run that was skipped or cancelled, and for notifications that were dropped. Set for twice as long as it has to last, so
-- that a cron which skips every instant rarely writes it.
local function note_cron(noted, keep)
  local least, left = math.max(tonumber(keep), A_DAY), redis.call('PTTL', noted)
  if left ~= -1 and left < least then redis.call('SET', noted, '', 'PX', string.format('%.0f', 2 * least)) end
end

-- A pause without an end is noted until it ends, whatever else is.
local function note_pause(noted, keep, paused_until)
  if paused_until == 'ever' then
    redis.call('SET', noted, '')
  else
    redis.call('PEXPIRE', noted, string.format('%.0f', math.max(tonumber(keep), A_DAY)))
  end
end
