-- Takes each of many leases and issues its fence in one step, or does neither.
--
-- KEYS[2 * i - 1]  the i-th lease: '<nonce> <ttl> <fence> <since> <holder>', a string that expires with the term
-- KEYS[2 * i]  the last fence issued for the i-th resource, which never expires
-- ARGV[i]  the request: '<nonce> <ttl> <floor> <holder>'
-- Returns  for each in order 'ACQUIRED <fence>' | 'BUSY <remaining milliseconds>' | 'EXHAUSTED' | 'FAILED <why>'
--
-- One key that holds something else costs its own resource, and not the thousand others.
-- @include take-lease
local answers = {}
for i = 1, #ARGV do
  local taken, answer = pcall(takeLease, KEYS[2 * i - 1], KEYS[2 * i], ARGV[i])
  if not taken then answer = 'FAILED ' .. (type(answer) == 'table' and answer.err or answer) end
  answers[i] = answer
end
return answers
