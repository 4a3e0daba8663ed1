-- Whether a fence is below the largest one seen: its holder was paused, and a newer holder has acted meanwhile. An
-- equal one is the same holder writing again.
-- @include check-number
local function isStale(fence, seen)
  return checkNumber('the fence', fence, 0) < checkNumber('the fence seen', seen or '0', 0)
end
