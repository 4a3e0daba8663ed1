-- Ends a session with all its terms, and announces it.
--
-- KEYS[1]  the session, as in open-session
-- ARGV[1]  channel of the announcements
-- ARGV[2]  what is announced: that any resource may be free
-- Returns  'DONE' | 'OVER'
if redis.call('DEL', KEYS[1]) == 0 then return 'OVER' end
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 'DONE'
