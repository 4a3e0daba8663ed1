-- Frees the place whose term has exactly this fence, for any holder, and announces it.
--
-- KEYS[1]  the places: a hash of nonce to '<ends at> <ttl> <fence> <since> <holder>'
-- ARGV[1]  fence of the term that is to end, decimal
-- ARGV[2]  channel of the announcements
-- ARGV[3]  the resource, as announced
-- Returns  'DONE' | 'OVER'
--
-- All places of a resource share one counter, so a fence names one place and one term for ever: the other holders keep theirs.
-- @include read-places
for _, term in ipairs((readPlaces(KEYS[1]))) do
  if term.fence == ARGV[1] then
    redis.call('HDEL', KEYS[1], term.nonce)
    redis.call('PUBLISH', ARGV[2], ARGV[3])
    return 'DONE'
  end
end
return 'OVER'
