-- Lifts the fence of a term, and the counter of its resource, to what a quorum of nodes has agreed on.
--
-- KEYS[1]  the lease, as in acquire-lease
-- KEYS[2]  the last fence issued for the resource
-- ARGV[1]  nonce of the term
-- ARGV[2]  fence
-- Returns  'DONE' | 'OVER'
--
-- Never lowers: replies of a term that has ended, or commands that overtake each other, must not take a fence back.
-- @include check-number
local fence = checkNumber('fence', ARGV[2], 1)
local term = redis.call('GET', KEYS[1])
local nonce, life, own, rest = (term or ''):match('^(%S+) (%S+) (%d+) (.*)$')
if nonce ~= ARGV[1] then
  return 'OVER'
end

local stored = checkNumber('the stored fence', redis.call('GET', KEYS[2]) or '0', 0)
if fence > stored then
  redis.call('SET', KEYS[2], ARGV[2])
end
if fence > tonumber(own) then
  redis.call('SET', KEYS[1], table.concat({ nonce, life, ARGV[2], rest }, ' '), 'KEEPTTL')
end
return 'DONE'
