-- What is known of a declared cron: '<format> <order> <hash> <state> <app>', and behind a tab the fields of a later format.
-- The order is that of the revision in force. States: live, dropped (no live pod declares it), removed (by an operator). No app:
-- made at run time.
-- @include readable-formats
local DECLARED = '^' .. READABLE .. ' (%d+) (%x+) (%a+) ([^\t]*)'

local function read_declared(text)
  return string.match(text, DECLARED)
end

local function declared_text(order, hash, state, app, before)
  return table.concat({ '2', order, hash, state, app }, ' ') .. (before and string.match(before, '\t.*$') or '')
end

local function is_tombstone(known)
  local _, _, state = read_declared(known or '')
  return state ~= nil and state ~= 'live'
end
