-- Ends the terms that are still the current ones, and announces each end.
--
-- KEYS[i]  the lease of the i-th term: '<nonce> <ttl> <fence> <holder>'
-- ARGV[1]  channel of the announcements
-- ARGV[2 * i]  nonce of the i-th term
-- ARGV[2 * i + 1]  resource of the i-th term, as announced
-- Returns  the places, from 1, of the terms that were over
--
-- The fence counter stays: it has to outlive every term.
local terms = #KEYS > 0 and redis.call('MGET', unpack(KEYS)) or {}
local over = {}
for i = 1, #KEYS do
  -- What DEL answers, too: a term may stand in the batch twice, and ends once.
  if terms[i] and terms[i]:match('^%S+') == ARGV[2 * i] and redis.call('DEL', KEYS[i]) == 1 then
    redis.call('PUBLISH', ARGV[1], ARGV[2 * i + 1])
  else
    over[#over + 1] = i
  end
end
return over
