-- Opens a session, or extends one that is open.
--
-- KEYS[1]  the session: a hash that expires with it; 'holder', 'ttl', and '=<resource>' with the nonce of a term that was
--          taken from it
-- ARGV[1]  ttl from now on, milliseconds
-- ARGV[2]  the holder
-- Returns  'DONE'
-- @include check-number
checkNumber('ttl', ARGV[1], 1)
redis.call('HSET', KEYS[1], 'ttl', ARGV[1], 'holder', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 'DONE'
