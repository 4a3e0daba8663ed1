-- Writes the revisions of an app with one more set, unless another process has changed them meanwhile.
--
-- KEYS[1]  revisions, by app
-- KEYS[2]  the names of each revision, by order and app
-- KEYS[3]  the highest build of each app, which former releases compare with their own
-- ARGV[1]  app
-- ARGV[2]  the record that was read, or empty for none
-- ARGV[3]  the record to write
-- ARGV[4]  order of the set
-- ARGV[5]  its names, a line each
-- ARGV[i + 5]  order of the i-th set whose names are no longer kept
-- Returns  1, or 0 when the record was another one
--
-- The highest build is raised above every process of a former release: it declares nothing then, and executes only. A former
-- process may have the path of its program behind the name of the app.
-- @include lease/server-time
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[2] ~= ARGV[3] then redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
redis.call('HSET', KEYS[2], ARGV[4] .. ' ' .. ARGV[1], ARGV[5])
for i = 1, #ARGV - 5 do redis.call('HDEL', KEYS[2], ARGV[i + 5] .. ' ' .. ARGV[1]) end
redis.call('HSETNX', KEYS[3], ARGV[1], '0')
local path = ARGV[1] .. '/'
local builds = redis.call('HGETALL', KEYS[3])
for i = 1, #builds, 2 do
  if builds[i] == ARGV[1] or string.sub(builds[i], 1, #path) == path then
    redis.call('HSET', KEYS[3], builds[i], string.format('%.0f', math.max(now, tonumber(builds[i + 1]) + 1)))
  end
end
return 1
