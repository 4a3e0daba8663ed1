-- Copies a run that a worker has ended to other instants, and indexes the copies as the scripts of the ledger do.
--
-- KEYS[1]  the run that is copied
-- KEYS[2]  runs of the cron that gets the copies, by instant
-- KEYS[3]  its failed runs, by their end
-- ARGV[1]  its name
-- ARGV[2]  how long the copies are kept, ms
-- ARGV[3]  what the key of each of its runs begins with
-- ARGV[i]  an instant, epoch ms
--
-- Times in a record count from its instant, so a copy differs in that one; see run-record of the ledger.
local found, written, fields = redis.call('HGETALL', KEYS[1]), {}, {}
for i = 1, #found, 2 do
  fields[found[i]] = found[i + 1]
  -- Only a run that somebody asked for has these.
  if found[i] ~= 'c' and found[i] ~= 'by' and found[i] ~= 'payload' then
    written[#written + 1] = found[i]
    written[#written + 1] = found[i + 1]
  end
end
local due, rest = string.match(fields.c, '^2 %d+ (%-?%d+) %a( .*)$')
local took = tonumber(string.match(fields.f, '^%-?%d+'))
local failed = string.sub(fields.s, 3, 3) == 'f'
for i = 4, #ARGV do
  local id = ARGV[1] .. '@' .. ARGV[i]
  local key = ARGV[3] .. id
  redis.call('HSET', key, 'c', '2 ' .. ARGV[i] .. ' ' .. due .. ' s' .. rest, unpack(written))
  redis.call('PEXPIRE', key, ARGV[2])
  redis.call('ZADD', KEYS[2], ARGV[i], id)
  if failed then redis.call('ZADD', KEYS[3], string.format('%.0f', ARGV[i] + took), id) end
end
return #ARGV - 3
