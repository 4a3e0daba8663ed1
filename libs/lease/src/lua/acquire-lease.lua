-- Takes a lease and issues its fence in one step, or does neither.
--
-- KEYS[1]  the lease: '<nonce> <ttl> <fence> <since> <holder>', a string that expires with the term
-- KEYS[2]  the last fence issued for the resource, which never expires
-- ARGV[1]  the request: '<nonce> <ttl> <floor> <holder>'
-- Returns  'ACQUIRED <fence>' | 'BUSY <remaining milliseconds>' | 'EXHAUSTED'
-- @include take-lease
return takeLease(KEYS[1], KEYS[2], ARGV[1])
