-- Sets how many places a resource has, overriding the requests, or leaves it to the requests again.
--
-- KEYS[1]  the size: how many places were `asked` for last, and how many were `set`
-- ARGV[1]  channel of the announcements
-- ARGV[2]  resource, as announced
-- ARGV[3]  places, or nothing to leave it to the requests
-- Returns  'DONE'
--
-- No holder loses a place: with more holders than places, no request succeeds until enough of them have left.
-- @include check-number
local set = ARGV[3] ~= '' and checkNumber('places', ARGV[3], 1)
local size = redis.call('HMGET', KEYS[1], 'asked', 'set')
local before = tonumber(size[2] or size[1] or '')
local after = set or tonumber(size[1] or '')

if set then
  redis.call('HSET', KEYS[1], 'set', ARGV[3])
  -- What a person has set isn't forgotten.
  redis.call('PERSIST', KEYS[1])
else
  redis.call('HDEL', KEYS[1], 'set')
end
-- Also when one of them is not known: waiters that are woken for nothing ask once more, those that are not wait on.
if not before or not after or after > before then
  redis.call('PUBLISH', ARGV[1], ARGV[2])
end
return 'DONE'
