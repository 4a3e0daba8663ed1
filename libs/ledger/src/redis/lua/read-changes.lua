-- Reads one page of the catalog, or of what changed in it after a version. Writes nothing.
--
-- KEYS[1]  crons, by name
-- KEYS[2]  what was declared, by cron
-- KEYS[3]  version of the catalog
-- KEYS[4]  when its first change was accepted
-- KEYS[5]  changes, by version
-- ARGV[1]  the version, or empty for everything
-- ARGV[2]  where the page before ended, or empty
-- ARGV[3]  about how many crons
-- Returns  {version, epoch ms, {name, generations, ...}, {name, declared, ...}, born, epoch ms, or empty, {name that is gone, ...},
--          where this page ended, or empty for the last} | nil where the changes don't reach back to the version
--
-- Everything is read as HSCAN goes through it, and then what has changed since the first page. The changes know a version only
-- if one of them made it: after a failover that lost some, a version that was lost is unknown too.
-- @include lease/server-time
-- @include read-fields
local known = redis.call('MGET', KEYS[3], KEYS[4])
local version, born = known[1] or '0', known[2] or ''
local kind, from, cursor = string.match(ARGV[2], '^(%a+) (%S+) ?(%S*)$')
local crons, names, gone, last = {}, {}, {}, ''

if ARGV[1] == '' and kind ~= 'log' then
  local page = redis.call('HSCAN', KEYS[1], cursor or '0', 'COUNT', ARGV[3])
  crons, from = page[2], from or version
  for i = 1, #crons, 2 do names[#names + 1] = crons[i] end
  if page[1] ~= '0' then
    last = 'all ' .. from .. ' ' .. page[1]
  elseif from ~= version then
    last = 'log ' .. from
  end
else
  local after = kind == 'log' and from or ARGV[1]
  if after ~= version then
    local newest = redis.call('XREVRANGE', KEYS[5], '+', '-', 'COUNT', '1')[1]
    if not newest or string.match(newest[1], '^%d+') ~= version then return false end
    if #redis.call('XRANGE', KEYS[5], after, after, 'COUNT', '1') == 0 then return false end
    -- After all changes of a version, not only after its first.
    local start = string.find(after, '-', 1, true) and after or after .. '-18446744073709551615'
    local changes, seen = redis.call('XRANGE', KEYS[5], '(' .. start, '+', 'COUNT', ARGV[3]), {}
    for _, change in ipairs(changes) do
      local name = change[2][2]
      if not seen[name] then names[#names + 1] = name end
      seen[name] = true
    end
    if #changes == tonumber(ARGV[3]) then last = 'log ' .. changes[#changes][1] end
    crons = read_fields(KEYS[1], names, gone)
  end
end
return { version, string.format('%.0f', now), crons, read_fields(KEYS[2], names), born, gone, last }
