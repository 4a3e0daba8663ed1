-- Takes each of many leases and issues its fence in one step, or does neither.
--
-- KEYS[2 * i - 1]  the i-th lease, as in acquire-lease
-- KEYS[2 * i]  the last fence issued for the i-th resource
-- ARGV[1]  sessions known to be over, blanks between them
-- ARGV[i + 1]  the request, as in acquire-lease
-- Returns  for each in order 'ACQUIRED <fence>' | 'BUSY <remaining milliseconds>' | 'HELD <session>' | 'EXHAUSTED' |
--          'FAILED <why>'
--
-- @include take-lease
-- @include take-each
-- @include parse-sessions
local over = parseSessions(ARGV[1])
return (takeEach(function(known, i)
  return takeLease(known, KEYS[2 * i - 1], KEYS[2 * i], parseAsked(ARGV[i + 1]), over)
end))
