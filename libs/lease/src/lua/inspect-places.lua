-- Reads how many places each resource has and their holders; changes nothing.
--
-- KEYS[2 * i - 1]  the places of the i-th resource: a hash of nonce to '<ends at> <ttl> <fence> <since> <holder>'
-- KEYS[2 * i]  the size of the i-th resource: how many places were `asked` for last, and how many were `set`
-- Returns  for each resource in order {places or '0' before the first request, then {holder, fence, remaining
--          milliseconds, held since} of each holder, the one whose term ends first in front}
-- @include read-places
local shown = {}
for i = 1, #KEYS / 2 do
  local size = redis.call('HMGET', KEYS[2 * i], 'asked', 'set')
  local resource = { size[2] or size[1] or '0' }
  local living = readPlaces(KEYS[2 * i - 1])
  table.sort(living, function(a, b)
    return a.ends < b.ends
  end)
  for n, term in ipairs(living) do
    resource[n + 1] = { term.holder, term.fence, string.format('%.0f', term.ends - now), term.since }
  end
  shown[i] = resource
end
return shown
