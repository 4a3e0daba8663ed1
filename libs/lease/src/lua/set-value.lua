-- Writes a value unless a larger fence has been seen for its key.
--
-- KEYS[1]  the value: a hash of value, fence and the time of writing, that expires with the value
-- KEYS[2]  the largest fence seen, which outlives the value
-- ARGV[1]  fence, decimal
-- ARGV[2]  value
-- ARGV[3]  how long the value lives, milliseconds; 0 for ever
-- ARGV[4]  how long the fence is remembered beyond that, milliseconds
-- Returns  {'WRITTEN'} | {'STALE', fence}
--
-- Two keys, because the value's end must not be the fence's: a writer that wakes up after it would find nothing against it.
-- @include compare-fences
local ttl = checkNumber('the ttl', ARGV[3], 0)
local retention = checkNumber('the retention', ARGV[4], 1)

local seen = redis.call('GET', KEYS[2])
if isStale(ARGV[1], seen) then
  return { 'STALE', seen }
end

-- @include server-time
-- The fence first: a server out of memory refuses the first write only, and a value without its fence is unguarded.
redis.call('SET', KEYS[2], ARGV[1])
-- Not changed in place: it may be of another type, and the ttl of the value before must not end this one.
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'value', ARGV[2], 'fence', ARGV[1], 'at', string.format('%.0f', now))
if ttl > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  redis.call('PEXPIRE', KEYS[2], string.format('%.0f', ttl + retention))
end
return { 'WRITTEN' }
