-- Takes each of many leases for one session and issues its fence in one step, or does neither.
--
-- KEYS[2 * i - 1]  the i-th lease, as in acquire-lease
-- KEYS[2 * i]  the last fence issued for the i-th resource
-- ARGV[1]  sessions known to be over, blanks between them
-- ARGV[2]  the session
-- ARGV[3]  a line for each term: its nonce, and behind a blank the floor unless that is 0
-- Returns  {fence, '<i> <answer>', ...}: what acquire-leases answers, for all those that did not acquire this fence
--
-- A pod acquires a hundred thousand when it starts, and nearly all of them get the server's clock as their fence.
-- @include take-lease
-- @include take-each
-- @include parse-sessions
local over = parseSessions(ARGV[1])
local asked = { session = ARGV[2], life = '@' .. ARGV[2], holder = '' }
local lines = string.gmatch(ARGV[3], '[^\n]+')
local answers, known = takeEach(function(known, i)
  local line = lines()
  local nonce, floor = string.match(line, '^(%S+) (%S+)$')
  asked.nonce, asked.floor = nonce or line, floor and checkNumber('floor', floor, 0) or 0
  return takeLease(known, KEYS[2 * i - 1], KEYS[2 * i], asked, over)
end)
local fence = known.issued or ''
local usual, reply = 'ACQUIRED ' .. fence, { fence }
for i, answer in ipairs(answers) do
  if answer ~= usual then reply[#reply + 1] = string.format('%d %s', i, answer) end
end
return reply
