-- Leaves a note for the holder of a session that one of its terms was taken.
--
-- KEYS[1]  the session, as in open-session
-- ARGV[1]  resource of the term
-- ARGV[2]  nonce of the term
-- ARGV[3]  how many notes there are at most
-- Returns  'DONE' | 'OVER' for a session that is over
--
-- Notes are hints, and a renewal reads them all: more than a script reads in a moment are left out.
local fields = redis.call('HLEN', KEYS[1])
if fields == 0 then return 'OVER' end
if fields < 2 + tonumber(ARGV[3]) then redis.call('HSET', KEYS[1], '=' .. ARGV[1], ARGV[2]) end
return 'DONE'
