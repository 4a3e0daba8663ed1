-- Wakes a worker if jobs wait in a queue of BullMQ, as adding one does. A worker that finds none waits again.
-- KEYS[1]  wait
-- KEYS[2]  prioritized
-- KEYS[3]  meta
-- KEYS[4]  marker
-- Returns  whether jobs wait that may be taken, 1 or 0
local call = redis.call
if call('EXISTS', KEYS[1], KEYS[2]) == 0 or call('HEXISTS', KEYS[3], 'paused') == 1 then return 0 end
call('ZADD', KEYS[4], 0, '0')
return 1
