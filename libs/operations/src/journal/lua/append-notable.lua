-- Adds notable entries to a list that many crons share, and keeps it short.
--
-- KEYS[1]  the entries: "cron stamp text", all of one score, so that those of a cron stand together, the oldest first
-- KEYS[2]  "cron stamp" by stamp: in which order they came
-- ARGV[1]  how many entries the list has at most
-- ARGV[2]  how many of one cron at most
-- ARGV[3]  so many of one cron push out others; beyond that a full list gives up that cron's own oldest
-- ARGV[4]  how long an entry is kept, ms
-- ARGV[n]  from 5 on, two words for each entry: its cron,
-- ARGV[n + 1]  and its text
-- Returns  nothing
--
-- A stamp is a thousand times the store's milliseconds, and a count within one: no two entries of a list have the same. A
-- cron's name has no space, and every character of a name comes after "!", so "[cron " to "(cron!" is that cron and no other.
-- @include lease/server-time
local entries, order = KEYS[1], KEYS[2]
local most, most_of_cron, share, keep = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local function drop(name)
  redis.call('ZREMRANGEBYLEX', entries, '[' .. name .. ' ', '(' .. name .. '!')
  redis.call('ZREM', order, name)
end

local since = string.format('%.0f', (now - keep) * 1000)
for _, name in ipairs(redis.call('ZRANGEBYSCORE', order, '-inf', since, 'LIMIT', 0, 100)) do drop(name) end

-- A clock that went back moves no entry before another one.
local newest = redis.call('ZREVRANGE', order, 0, 0, 'WITHSCORES')
local stamp = math.max(now * 1000, (tonumber(newest[2]) or 0) + 1)
local count = redis.call('ZCARD', order)

local function make_room(cron)
  local from, to = '[' .. cron .. ' ', '(' .. cron .. '!'
  local own = redis.call('ZLEXCOUNT', entries, from, to)
  if own >= most_of_cron or (count >= most and own >= share) then
    local oldest = redis.call('ZRANGEBYLEX', entries, from, to, 'LIMIT', 0, 1)[1]
    drop(string.match(oldest, '^%S+ %d+'))
  elseif count >= most then
    drop(redis.call('ZRANGE', order, 0, 0)[1])
  else
    count = count + 1
  end
end

for n = 5, #ARGV, 2 do
  make_room(ARGV[n])
  local text = string.format('%016.0f', stamp)
  local name = ARGV[n] .. ' ' .. text
  redis.call('ZADD', entries, 0, name .. ' ' .. ARGV[n + 1])
  redis.call('ZADD', order, text, name)
  stamp = stamp + 1
end
redis.call('PEXPIRE', entries, ARGV[4])
redis.call('PEXPIRE', order, ARGV[4])
