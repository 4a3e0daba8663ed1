-- Extends the terms that are still the current ones, and creates none.
--
-- KEYS[i]  the lease of the i-th term
-- ARGV[1]  ttl from now on, milliseconds
-- ARGV[i + 1]  nonce of the i-th term
-- Returns  for each term in order 'DONE' | 'OVER'
--
-- Compared first, written afterwards: a key of a wrong type fails the whole batch before anything has changed.
-- @include check-number
checkNumber('ttl', ARGV[1], 1)

local answers = {}
for i = 1, #KEYS do
  answers[i] = redis.call('HGET', KEYS[i], 'nonce') == ARGV[i + 1] and 'DONE' or 'OVER'
end

for i = 1, #KEYS do
  if answers[i] == 'DONE' then
    redis.call('HSET', KEYS[i], 'ttl', ARGV[1])
    redis.call('PEXPIRE', KEYS[i], ARGV[1])
  end
end
return answers
