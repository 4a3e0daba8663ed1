-- Ends the terms that are still the current ones, and announces each end.
--
-- KEYS[i]  the lease of the i-th term
-- ARGV[1]  channel of the announcements
-- ARGV[2 * i]  nonce of the i-th term
-- ARGV[2 * i + 1]  resource of the i-th term, as announced
-- Returns  for each term in order 'DONE' | 'OVER'
--
-- The fence counter stays: it has to outlive every term.
local answers = {}
for i = 1, #KEYS do
  answers[i] = redis.call('HGET', KEYS[i], 'nonce') == ARGV[2 * i] and 'DONE' or 'OVER'
end

for i = 1, #KEYS do
  if answers[i] == 'DONE' then
    redis.call('DEL', KEYS[i])
    redis.call('PUBLISH', ARGV[1], ARGV[2 * i + 1])
  end
end
return answers
