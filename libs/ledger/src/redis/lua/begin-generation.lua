-- Puts a new generation in front of a cron's generations, and drops those that are too old to be kept.
--
-- A cron is one line a generation, the newest first, of fields that a tab follows but for the last: generation, since, state,
-- nonce, who (JSON, with the format) and definition (JSON); what a later format has behind them stays. JSON text holds neither tabs nor line ends of its own, so nothing is decoded here:
-- what Lua decodes it can't encode again without rounding numbers.
-- A record that cannot be read is replaced as if there were none. Answers nil for one that is removed: no definition is left.
local function begin_generation(lines, next)
  local generation, since = 1, now
  local kept = {}
  local last, last_since = string.match(lines or '', '^(%d+)@?%d*\t(%d+)\t%a+\t[^\t\n]*\t[^\t\n]*\t[^\t\n]')
  if not last then
    if not next.definition then return nil end
    lines = nil
  end
  if lines then
    generation = tonumber(last) + 1
    -- Never before the one it follows, not even when the clock went back: an instant would belong to two of them.
    since = math.max(now + next.effective_after, tonumber(last_since))
  end
  local definition = next.definition or string.match(lines, '^' .. string.rep('[^\t\n]*\t', 5) .. '([^\t\n]*)')
  local first = { string.format('%.0f', generation), string.format('%.0f', since), next.state, next.nonce, next.who, definition }
  kept[1] = table.concat(first, '\t')
  for line in string.gmatch(lines or '', '[^\n]+') do
    if #kept <= next.kept then kept[#kept + 1] = line end
  end
  return table.concat(kept, '\n'), first[1], first[2]
end
