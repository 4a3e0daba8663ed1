-- The one place where an attempt's fence is compared. Expects KEYS[1] cron, KEYS[2] run, ARGV[1] fence, ARGV[2] nonce.
local run = redis.call('HMGET', KEYS[2], 'state', 'fence', 'nonce', 'leaseUntil', 'cancelUntil')
local current = run[1] == 'running' and run[2] == ARGV[1] and run[3] == ARGV[2]
local stop_by = tonumber(run[5] or '')
