-- The keys of a cron from that of its record, put together once for all runs of it that a call brings.
local crons = {}
local function find_cron(record)
  local cron = crons[record]
  if not cron then
    local base = string.sub(record, 1, -5)
    cron = { record = record, base = base, open = base .. 'open' }
    crons[record] = cron
  end
  return cron
end

local function id_of(cron, run)
  return string.sub(run, #cron.base + 5)
end
