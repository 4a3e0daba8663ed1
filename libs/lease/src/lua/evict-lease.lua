-- Ends the term that has exactly this fence, for any holder, and announces its end.
--
-- KEYS[1]  the lease: '<nonce> <ttl> <fence> <since> <holder>'
-- ARGV[1]  fence of the term that is to end, decimal
-- ARGV[2]  channel of the announcements
-- ARGV[3]  the resource, as announced
-- Returns  'DONE' | 'OVER'
--
-- A fence names one term for ever, so asking again can't end a successor. The counter stays.
local term = redis.call('GET', KEYS[1])
if not term or term:match('^%S+ %S+ (%d+) ') ~= ARGV[1] then return 'OVER' end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 'DONE'
