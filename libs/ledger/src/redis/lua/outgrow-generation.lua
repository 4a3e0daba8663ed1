-- Renumbers the generations of a cron above one that a ledger has accepted, unless the newest is at least that.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  version of the catalog
-- KEYS[3]  when its first change was accepted
-- KEYS[4]  changes, by version
-- ARGV[1]  name of the cron
-- ARGV[2]  the generation accepted by the ledger
-- ARGV[3]  channel to announce a change on
-- Returns  {'OUTGROWN', generation} | {'FINE'}
--
-- Generations are counted and not taken from the clock, so a catalog that was lost would issue the same ones again. All of
-- them move on, not only the newest: an instant of an earlier one that is still to be accounted for would be refused forever.
-- Each keeps when that was, behind an @: earlier claims had a lower number, and an audit must not report them.
-- @include lease/server-time
-- @include announce-change
local lines, accepted = redis.call('HGET', KEYS[1], ARGV[1]), tonumber(ARGV[2])
if not lines then return { 'FINE' } end
local known = {}
for line in string.gmatch(lines, '[^\n]+') do
  if string.match(line, '^%d+@?%d*\t') then known[#known + 1] = line end
end
if #known == 0 then return { 'FINE' } end
local number_of = function(line) return tonumber(string.match(line, '^%d+')) end
if number_of(known[1]) >= accepted then return { 'FINE' } end

local shift = accepted + 1 - number_of(known[#known])
for i, line in ipairs(known) do
  known[i] = string.format('%.0f@%.0f', number_of(line) + shift, now) .. string.match(line, '^%d+@?%d*(.*)$')
end
redis.call('HSET', KEYS[1], ARGV[1], table.concat(known, '\n'))
announce_change({ version = KEYS[2], born = KEYS[3], changes = KEYS[4] }, { ARGV[1] }, ARGV[3])
return { 'OUTGROWN', string.match(known[1], '^%d+') }
