-- Whether the caller is the current attempt. Expects KEYS[1] cron, KEYS[2] run, ARGV[1] fence, ARGV[2] nonce.
-- @include lease/server-time
-- @include find-cron
-- @include run-record
-- @include read-attempt
local cron = find_cron(KEYS[1])
local run, current = read_attempt(KEYS[2], id_of(cron, KEYS[2]), ARGV[1], ARGV[2])
