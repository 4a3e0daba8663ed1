-- What is known of a declared cron: '<format> <build> <hash> <state> <source>', and behind a tab what a later format has more.
-- States: live, dropped (by a build that left it out), removed (by an operator). No source: made at run time.
-- @include readable-formats
local DECLARED = '^' .. READABLE .. ' (%d+) (%x+) (%a+) ([^\t]*)'

local function read_declared(text)
  return string.match(text, DECLARED)
end

local function declared_text(seq, hash, state, source, before)
  return table.concat({ '2', seq, hash, state, source }, ' ') .. (before and string.match(before, '\t.*$') or '')
end

local function is_tombstone(known)
  local _, _, state = read_declared(known or '')
  return state ~= nil and state ~= 'live'
end
