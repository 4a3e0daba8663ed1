-- Answers which pods have reported lately, and what each said of itself.
--
-- KEYS[1]  cards, by pod
-- KEYS[2]  pods, by when each was heard
-- ARGV[1]  gone after, ms
-- Returns  for each pod: when it was heard, and its card
-- @include lease/server-time
local latest = string.format('%.0f', now - tonumber(ARGV[1]))
local heard = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. latest, '+inf', 'WITHSCORES')
local found = {}
for n = 1, #heard, 2 do
  local card = redis.call('HGET', KEYS[1], heard[n])
  if card then
    found[#found + 1] = heard[n + 1]
    found[#found + 1] = card
  end
end
return found
