-- Remembers a fence as seen unless a larger one has been.
--
-- KEYS[1]  the largest fence seen
-- ARGV[1]  fence, decimal
-- ARGV[2]  how long the fence is remembered at least, milliseconds
-- Returns  {'ADMITTED'} | {'STALE', fence}
-- @include compare-fences
local retention = checkNumber('the retention', ARGV[2], 1)

local seen = redis.call('GET', KEYS[1])
if isStale(ARGV[1], seen) then
  return { 'STALE', seen }
end

-- -1 belongs to a value without an end: its fence has none either.
local left = redis.call('PTTL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1])
if left ~= -1 then
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(retention, left)))
end
return { 'ADMITTED' }
