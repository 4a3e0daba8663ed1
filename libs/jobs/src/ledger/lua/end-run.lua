-- Ends a run for good: nobody looks at it, nobody delivers it, it stands in nobody's way, and some day it is forgotten.
--
-- The keys are a table and not KEYS, because a run also ends by the hand of its successor.
local over = { succeeded = true, failed = true, cancelled = true, skipped = true }
local function end_run(id, keys, keep, ...)
  redis.call('HSET', keys.run, ...)
  for _, set in ipairs(keys.sets) do redis.call('ZREM', set, id) end
  redis.call('PEXPIRE', keys.run, keep)
  redis.call('PEXPIRE', keys.effects, keep)
end
