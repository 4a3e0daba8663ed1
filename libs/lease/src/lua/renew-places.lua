-- Extends the terms that still have their place, shortens none, and creates none.
--
-- KEYS[i]  the places of the i-th term's resource: a hash of nonce to '<ends at> <ttl> <fence> <since> <holder>'
-- ARGV[1]  ttl from now on, milliseconds
-- ARGV[i + 1]  nonce of the i-th term
-- Returns  a string with a letter for each term in order: D done, O over
--
-- Read and compared first, written afterwards: a key of a wrong type fails the whole batch before anything has changed.
-- @include read-places
checkNumber('ttl', ARGV[1], 1)

local terms = {}
for i = 1, #KEYS do
  terms[i] = livingPlace(ARGV[i + 1], redis.call('HGET', KEYS[i], ARGV[i + 1])) or false
end

local answers = {}
for i, term in ipairs(terms) do
  answers[i] = term and 'D' or 'O'
  if term then
    renewPlace(KEYS[i], term, ARGV[1])
  end
end
return table.concat(answers)
