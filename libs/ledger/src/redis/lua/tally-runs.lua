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

local function class_of(id, at, facts, standing, attempt, skipped)
  local due, reason = string.match(facts, '^%d+ %d+ (%-?%d+) (%a)')
  local state, attempts = string.match(standing, '^%d+ (%a) %d+ (%d+)')
  local started = attempt and tonumber((string.match(attempt, '^%S* %S* (%-?%d+)')))
  local has_lateness = reason == 's' or reason == 'c'
  local late = started and has_lateness and started - tonumber(due) > grace
  return state .. reason .. (tonumber(attempts) > 1 and 'r' or '-') .. (late and 'l' or '-')
    .. (string.match(id, '@(%d+)$') == at and 'n' or '-') .. (state == 'k' and skipped or '')
end

local counts, kinds, gone = {}, {}, ''
for i = 1, last, 2 do
  local id, at = found[i], found[i + 1]
  local run = redis.call('HMGET', base .. 'run:' .. id, 'c', 's', 'r', 'skipped')
  if not run[2] then
    gone = at
  else
    local instant = tonumber(at)
    local kind = string.format('%.0f', instant - instant % bucket) .. ' ' .. class_of(id, at, run[1], run[2], run[3], run[4])
    if not counts[kind] then kinds[#kinds + 1] = kind end
    counts[kind] = (counts[kind] or 0) + 1
  end
end

local reply = { more, gone }
for _, kind in ipairs(kinds) do
  local start, class = string.match(kind, '^(%d+) (.*)$')
  reply[#reply + 1] = start
  reply[#reply + 1] = class
  reply[#reply + 1] = counts[kind]
end
return reply
