-- Counts runs of a cron by what became of them, in buckets of time.
--
-- KEYS[1]  runs of the cron, by instant
-- KEYS[2]  cron record
-- ARGV[1]  the first instant
-- ARGV[2]  the first one that isn't asked for
-- ARGV[3]  how long a bucket is, ms
-- ARGV[4]  started later than this after it was due a run is late, ms
-- ARGV[5]  at most so many runs
-- Returns  {where to go on or "", the latest instant whose record is gone or "", then of each kind its bucket, its class, how
--          many}; a class: letters of state and reason, r or - (retried), l or - (late), n or - (the schedule's own id), and
--          the reason of a skip
--
-- The runs of one instant are never divided. The keys of the runs are not declared: they are under the tag of the cron.
-- @include find-cron
local from, bucket, grace, most = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local base = find_cron(KEYS[2]).base
local found = redis.call('ZRANGEBYSCORE', KEYS[1], from, '(' .. ARGV[2], 'WITHSCORES', 'LIMIT', 0, most)

-- A full answer may have divided the last instant, which is left to the next call; unless it is all there is.
local more, last = '', #found
if #found == 2 * most then
  more = found[#found]
  if found[2] == more then more = string.format('%.0f', tonumber(more) + 1) end
  while last > 2 and found[last] == more do last = last - 2 end
end

local own = string.match(base, '([^:]*)}:$') .. '@'
local match = string.match

-- Written for speed, as it is done for a thousand runs at a time.
local function class_of(id, at, key, run)
  local state, attempts = match(run[2], '^%d+ (%a) %d+ (%d+)')
  local due, reason = match(run[1], '^%d+ %d+ (%-?%d+) (%a)')
  local late = '-'
  if run[3] and (reason == 's' or reason == 'c') then
    local started = match(run[3], '^%S* %S* (%-?%d+)')
    if started and started - due > grace then late = 'l' end
  end
  local class = state .. reason .. ((attempts == '0' or attempts == '1') and '-' or 'r') .. late .. (id == own .. at and 'n' or '-')
  if state ~= 'k' then return class end
  local skipped, waiting = unpack(redis.call('HMGET', key, 'skipped', 'waiting'))
  return class .. (skipped == 'overlap' and waiting or skipped or '')
end

local counts, starts, gone = {}, {}, ''
for i = 1, last, 2 do
  local id, at = found[i], found[i + 1]
  local key = base .. 'run:' .. id
  local run = redis.call('HMGET', key, 'c', 's', 'r')
  if not run[2] then
    gone = at
  else
    local start = at - at % bucket
    local of_bucket = counts[start]
    if not of_bucket then
      of_bucket = {}
      counts[start] = of_bucket
      starts[#starts + 1] = start
    end
    local class = class_of(id, at, key, run)
    of_bucket[class] = (of_bucket[class] or 0) + 1
  end
end

local reply = { more, gone }
for _, start in ipairs(starts) do
  for class, count in pairs(counts[start]) do
    reply[#reply + 1] = string.format('%.0f', start)
    reply[#reply + 1] = class
    reply[#reply + 1] = count
  end
end
return reply
