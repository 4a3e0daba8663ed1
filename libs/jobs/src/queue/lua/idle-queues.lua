-- Looks for stalled jobs where there are none: of queues without a job under way, what BullMQ's moveStalledJobsToWait writes for
-- them. A worker of many queues then asks no more often than one of a single queue.
-- KEYS[n]  prefix of the keys of a queue
-- ARGV[1]  now, epoch milliseconds
-- ARGV[2]  nobody else needs to look for, ms
-- Returns  the places in KEYS of the queues that are left to BullMQ's script
local call, left = redis.call, {}
for n, prefix in ipairs(KEYS) do
  local check = prefix .. 'stalled-check'
  if call('EXISTS', prefix .. 'active', prefix .. 'stalled') > 0 then
    left[#left + 1] = n
  elseif call('EXISTS', check) == 0 then
    call('SET', check, ARGV[1], 'PX', ARGV[2])
  end
end
return left
