-- Takes a lease and issues its fence in one step, or does neither.
--
-- KEYS[1]  the lease: '<nonce> <ttl> <fence> <since> <holder>', a string that expires with the term, and its queue, as
--          wait-queue has it; or '<nonce> @<session>
--          <fence> <since> ' without expiry, a term that lives while the session does
-- KEYS[2]  the last fence issued for the resource, which never expires; absent while a term of a session has it
-- ARGV[1]  the request: '<nonce> <ttl> <floor> <holder>', or '<nonce> @<session> <floor> '
-- ARGV[2]  sessions known to be over, blanks between them; may be absent
-- ARGV[3]  'WAITS' for a caller that asks again with this nonce, and has to have its turn; may be absent
-- Returns  'ACQUIRED <fence>' | 'BUSY <remaining milliseconds>' | 'HELD <session>' | 'EXHAUSTED'
-- @include take-lease
-- @include parse-sessions
local known = unreadKeys()
local asked = parseAsked(ARGV[1])
asked.waits = ARGV[3] == 'WAITS'
local answer = takeLease(known, KEYS[1], KEYS[2], asked, parseSessions(ARGV[2]))
writeKeys(known)
return answer
