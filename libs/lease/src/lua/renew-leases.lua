-- Extends the terms that are still the current ones, shortens none, and creates none.
--
-- KEYS[i]  the lease of the i-th term, as in acquire-lease
-- ARGV[1]  ttl from now on, milliseconds
-- ARGV[i + 1]  nonce of the i-th term
-- Returns  the places, from 1, of the terms that are over
--
-- A term that lives with a session has no ttl to extend, and counts as over.
-- A key that holds something else reads as absent, so a stranger's key is neither extended nor fails the batch.
-- @include check-number
-- @include longer-term
checkNumber('ttl', ARGV[1], 1)

-- Locals are found quicker than globals, and finding is quicker than cutting out: this runs a thousand times.
local KEYS, ARGV, call, find = KEYS, ARGV, redis.call, string.find
local ttl = ARGV[1]
local same = ' ' .. ttl .. ' '
local terms = #KEYS > 0 and call('MGET', unpack(KEYS)) or {}
local over = {}
for i = 1, #KEYS do
  local term, nonce = terms[i] or '', ARGV[i + 1]
  local from, to = find(term, nonce, 1, true)
  if from == 1 and find(term, same, to + 1, true) == to + 1 then
    call('PEXPIRE', KEYS[i], ttl)
  elseif term:match('^(%S+) %d') == nonce then
    -- Another ttl than before: the term has to know it, it is the measure of what a clock that went back may leave over.
    local length = tonumber(term:match('^%S+ (%d+)'))
    local longer, left = longerTerm(tonumber(ttl), length, call('PTTL', KEYS[i]))
    local text = term:gsub('^(%S+) %d+', string.format('%%1 %.0f', longer))
    call('SET', KEYS[i], text, 'PX', string.format('%.0f', left))
  else
    over[#over + 1] = i
  end
end
return over
