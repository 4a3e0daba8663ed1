-- The one place where an attempt's fence is compared: whether it is the current one of the run, and until when it may go on.
local function read_attempt(key, fence, nonce)
  local run = redis.call('HMGET', key, 'state', 'fence', 'nonce', 'leaseUntil', 'cancelUntil', 'notify')
  return run, run[1] == 'running' and run[2] == fence and run[3] == nonce, tonumber(run[5] or '')
end
