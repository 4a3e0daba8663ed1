-- Reads runs with everything that is recorded of them, their effects included.
--
-- KEYS[i]  a run
-- Returns  of each run all fields and values, one after the other
local runs = {}
for i = 1, #KEYS do runs[i] = redis.call('HGETALL', KEYS[i]) end
return runs
