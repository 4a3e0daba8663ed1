-- The session that a term lives with.
--
-- KEYS[1]  the lease, as in acquire-lease
-- ARGV[1]  fence of the term, decimal
-- Returns  the session | false for another term, or one with a ttl of its own
local session, fence = (redis.call('GET', KEYS[1]) or ''):match('^%S+ @(%S+) (%d+) ')
return fence == ARGV[1] and session or false
