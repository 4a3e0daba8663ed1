-- Lists the runs that are due for a look, and moves their next look into the future.
--
-- KEYS[1]  watch list
-- ARGV[1]  how many at most
-- ARGV[2]  look again after, ms
-- Returns  run ids
--
-- Moving the look first keeps a crashed sweep from being repeated at once by everybody; it comes again after the time.
-- @include server-time
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', '0', ARGV[1])
for _, id in ipairs(ids) do
  redis.call('ZADD', KEYS[1], string.format('%.0f', now + tonumber(ARGV[2])), id)
end
return ids
