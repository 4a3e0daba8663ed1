-- Whether the caller is the current attempt. Expects KEYS[1] cron, KEYS[2] run, ARGV[1] fence, ARGV[2] nonce.
-- @include read-attempt
local run, current, stop_by = read_attempt(KEYS[2], ARGV[1], ARGV[2])
