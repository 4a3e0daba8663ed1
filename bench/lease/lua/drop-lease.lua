-- The least that ends a term without ending somebody else's.
--
-- KEYS[1]  the lease
-- ARGV[1]  nonce of the term
-- Returns  1 when it was ours, else 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
