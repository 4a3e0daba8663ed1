-- Reads runs.
--
-- KEYS[i]  a run
-- ARGV  names of fields
-- Returns  of each run its fields in that order
local runs = {}
for i = 1, #KEYS do runs[i] = redis.call('HMGET', KEYS[i], unpack(ARGV)) end
return runs
