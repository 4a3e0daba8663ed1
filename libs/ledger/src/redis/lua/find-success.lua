-- Finds the latest run of a cron that succeeded, among those before one of its runs.
--
-- KEYS[1]  runs of the cron, by instant
-- KEYS[2]  cron record
-- ARGV[1]  the run before which it looks
-- ARGV[2]  how many runs it looks at
-- Returns  {'FOUND', run} | {'MORE', the last run it looked at} | {'NONE'}
--
-- The keys of the runs are not declared: they are under the tag of the cron.
-- @include find-cron
local base = find_cron(KEYS[2]).base
local place = redis.call('ZREVRANK', KEYS[1], ARGV[1])
if not place then return { 'NONE' } end
local ids = redis.call('ZREVRANGE', KEYS[1], place + 1, place + tonumber(ARGV[2]))
for _, id in ipairs(ids) do
  local standing = redis.call('HGET', base .. 'run:' .. id, 's')
  if standing and string.match(standing, '^%d+ s ') then return { 'FOUND', id } end
end
if #ids < tonumber(ARGV[2]) then return { 'NONE' } end
return { 'MORE', ids[#ids] }
