-- Copies a run that a worker has ended to other instants, and indexes the copies as the scripts of the ledger do.
--
-- KEYS[1]  the run that is copied
-- KEYS[2]  runs of the cron that gets the copies, by instant
-- KEYS[3]  its failed runs, by their end
-- ARGV[1]  its name
-- ARGV[2]  how long the copies are kept, ms
-- ARGV[3]  what the key of each of its runs begins with
-- ARGV[i]  an instant, epoch ms
local run, fields = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #run, 2 do fields[run[i]] = run[i + 1] end
local was = tonumber(fields.scheduledAt)
local times = { 'scheduledAt', 'dueAt', 'claimedAt', 'enqueuedAt', 'startedAt', 'attemptedAt', 'finishedAt' }
for i = 4, #ARGV do
  local id, written = ARGV[1] .. '@' .. ARGV[i], { 'reason', 'schedule' }
  local key, moved = ARGV[3] .. id, {}
  for _, name in ipairs(times) do moved[name] = string.format('%.0f', tonumber(fields[name]) - was + tonumber(ARGV[i])) end
  for name, value in pairs(fields) do
    -- Only a run that somebody asked for has these.
    if name ~= 'reason' and name ~= 'by' and name ~= 'payload' then
      written[#written + 1] = name
      written[#written + 1] = name == 'id' and id or moved[name] or value
    end
  end
  redis.call('HSET', key, unpack(written))
  redis.call('PEXPIRE', key, ARGV[2])
  redis.call('ZADD', KEYS[2], ARGV[i], id)
  if fields.state == 'failed' then redis.call('ZADD', KEYS[3], moved.finishedAt, id) end
end
return #ARGV - 3
