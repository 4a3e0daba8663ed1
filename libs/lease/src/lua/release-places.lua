-- Frees the places of the terms that still have one, and announces each.
--
-- KEYS[i]  the places of the i-th term's resource: a hash of nonce to '<ends at> <ttl> <fence> <since> <holder>'
-- ARGV[1]  channel of the announcements
-- ARGV[2 * i]  nonce of the i-th term
-- ARGV[2 * i + 1]  resource of the i-th term, as announced
-- Returns  a string with a letter for each term in order: D done, O over
--
-- The fence counter stays: it has to outlive every term.
-- @include read-places
local living = {}
for i = 1, #KEYS do
  living[i] = livingPlace(ARGV[2 * i], redis.call('HGET', KEYS[i], ARGV[2 * i])) or false
end

local answers = {}
for i, term in ipairs(living) do
  answers[i] = 'O'
  -- A term that stands in the batch twice is over the second time.
  if term and redis.call('HDEL', KEYS[i], term.nonce) == 1 then
    redis.call('PUBLISH', ARGV[1], ARGV[2 * i + 1])
    answers[i] = 'D'
  end
end
return table.concat(answers)
