-- Ends the terms that are still the current ones, and announces each end. Waiters of these nonces leave the queue.
--
-- KEYS[2 * i - 1]  the lease of the i-th term, as in acquire-lease
-- KEYS[2 * i]  the last fence issued for the i-th resource
-- ARGV[1]  channel of the announcements
-- ARGV[2 * i]  nonce of the i-th term
-- ARGV[2 * i + 1]  resource of the i-th term, as announced
-- Returns  the places, from 1, of the terms that were over, and '<place> <session>' for each that lived with a session
--
-- The fence counter stays: it has to outlive every term. Whether a session is over is for the caller to look at.
-- @include end-session-term
-- @include wait-queue
local leases = {}
for i = 1, #KEYS / 2 do leases[i] = KEYS[2 * i - 1] end
local terms = #leases > 0 and redis.call('MGET', unpack(leases)) or {}
local answers, ended = {}, {}
for i = 1, #leases do
  local session, fence = (terms[i] or ''):match('^%S+ @(%S+) (%d+) ')
  local isOurs = terms[i] and terms[i]:match('^%S+') == ARGV[2 * i] and not ended[leases[i]]
  -- What DEL answers, too: a term may stand in the batch twice, and ends once.
  if isOurs and session and endSessionTerm(leases[i], KEYS[2 * i], fence) == 1 then
    redis.call('PUBLISH', ARGV[1], ARGV[2 * i + 1])
    answers[#answers + 1] = i .. ' ' .. session
  elseif isOurs and not session and endTerm(leases[i], terms[i]) == 1 then
    ended[leases[i]] = true
    redis.call('PUBLISH', ARGV[1], ARGV[2 * i + 1])
  else
    if terms[i] and not isOurs and not ended[leases[i]] then leaveQueue(leases[i], terms[i], ARGV[2 * i]) end
    answers[#answers + 1] = i
  end
end
return answers
