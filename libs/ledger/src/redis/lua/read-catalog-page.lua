-- Reads some crons of the catalog, as HSCAN goes through them: with all of them at once, one reader would stop everybody else.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- ARGV[1]  where to go on, 0 at first
-- ARGV[2]  about how many
-- Returns  {where to go on, 0 after the last, {name, generations, ...}, {name, declared, ...}}; a cron may come twice
local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local names, declared = {}, {}
for i = 1, #page[2], 2 do names[#names + 1] = page[2][i] end
if #names > 0 then
  for i, value in ipairs(redis.call('HMGET', KEYS[2], unpack(names))) do
    if value then
      declared[#declared + 1] = names[i]
      declared[#declared + 1] = value
    end
  end
end
return { page[1], page[2], declared }
