-- Takes each of many leases and issues its fence in one step, or does neither.
--
-- KEYS[2 * i - 1]  the i-th lease, as in acquire-lease
-- KEYS[2 * i]  the last fence issued for the i-th resource
-- ARGV[1]  sessions known to be over, blanks between them
-- ARGV[i + 1]  the request, as in acquire-lease
-- Returns  for each in order 'ACQUIRED <fence>' | 'BUSY <remaining milliseconds>' | 'HELD <session>' | 'EXHAUSTED' |
--          'FAILED <why>'
--
-- One key that holds something else costs its own resource, and not the thousand others.
-- @include take-lease
-- @include parse-sessions
local answers = {}
local over = parseSessions(ARGV[1])
for i = 1, #ARGV - 1 do
  local taken, answer = pcall(takeLease, KEYS[2 * i - 1], KEYS[2 * i], ARGV[i + 1], over)
  if not taken then answer = 'FAILED ' .. (type(answer) == 'table' and answer.err or answer) end
  answers[i] = answer
end
return answers
