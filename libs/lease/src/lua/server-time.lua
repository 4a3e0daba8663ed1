-- The store's clock in milliseconds: the only "now" that decides, because pods disagree about theirs.
local server_time = redis.call('TIME')
local now = tonumber(server_time[1]) * 1000 + math.floor(tonumber(server_time[2]) / 1000)
