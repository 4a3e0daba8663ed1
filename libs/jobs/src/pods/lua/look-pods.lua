-- Returns the live pods, what each says of itself, and the revisions that were declared lately.
--
-- KEYS[1]  cards, by pod
-- KEYS[2]  pods, by last report
-- KEYS[3]  states, by pod
-- KEYS[4]  revisions, by last report of a pod that declares them
-- KEYS[5]  registry: when it began
-- ARGV[1]  gone after, ms
-- ARGV[2]  revisions are kept for, ms
-- Returns  now in microseconds; when the registry began; for each revision: its last report; for each pod: last report, card, state or ''
-- @include lease/server-time
local latest = string.format('%.0f', now - tonumber(ARGV[1]))
local heard = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. latest, '+inf', 'WITHSCORES')
local pods = {}
for n = 1, #heard, 2 do
  local card = redis.call('HGET', KEYS[1], heard[n])
  if card then
    pods[#pods + 1] = heard[n + 1]
    pods[#pods + 1] = card
    pods[#pods + 1] = redis.call('HGET', KEYS[3], heard[n]) or ''
  end
end
local oldest = string.format('%.0f', now - tonumber(ARGV[2]))
local revisions = redis.call('ZREVRANGEBYSCORE', KEYS[4], '+inf', '(' .. oldest, 'WITHSCORES')
local born = redis.call('HGET', KEYS[5], 'born') or string.format('%.0f', now)
return { string.format('%.0f', tonumber(server_time[1]) * 1000000 + tonumber(server_time[2])), born, revisions, pods }
