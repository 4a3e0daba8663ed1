-- Lists crons of an app whose definition in force is of a revision without a live pod, a page at a time.
--
-- KEYS[1]  what was declared, by cron
-- ARGV[1]  app
-- ARGV[2]  order of the revision that asks
-- ARGV[3]  revisions that are gone, a line each
-- ARGV[4]  1: no process of a former release is live
-- ARGV[5]  where to go on, 0 at first
-- ARGV[6]  about how many records to look at
-- Returns  {where to go on, 0 after the last, {name, ...}}
-- @include declared-record
-- @include is-gone
local by, names = declarer(ARGV[1], ARGV[2], ARGV[3], ARGV[4]), {}
local page = redis.call('HSCAN', KEYS[1], ARGV[5], 'COUNT', ARGV[6])
for i = 1, #page[2], 2 do
  local order, _, state, app = read_declared(page[2][i + 1])
  if state == 'live' and owns(app, tonumber(order), by) and is_gone(app, tonumber(order), by) then names[#names + 1] = page[2][i] end
end
return { page[1], names }
