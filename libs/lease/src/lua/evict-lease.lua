-- Ends the term that has exactly this fence, for any holder, and announces its end.
--
-- KEYS[1]  the lease, as in acquire-lease
-- KEYS[2]  the last fence issued for the resource
-- ARGV[1]  fence of the term that is to end, decimal
-- ARGV[2]  channel of the announcements
-- ARGV[3]  the resource, as announced
-- Returns  'DONE' | 'DONE <session> <nonce>' for a term that lived with a session | 'OVER'
--
-- A fence names one term for ever, so asking again can't end a successor. The counter stays.
-- @include end-session-term
-- @include wait-queue
local term = redis.call('GET', KEYS[1])
local nonce, life, fence = (term or ''):match('^(%S+) (%S+) (%d+) ')
if fence ~= ARGV[1] then return 'OVER' end
local session = life:match('^@(.+)$')
if session then
  endSessionTerm(KEYS[1], KEYS[2], fence)
else
  endTerm(KEYS[1], term)
end
redis.call('PUBLISH', ARGV[2], ARGV[3])
return session and table.concat({ 'DONE', session, nonce }, ' ') or 'DONE'
