-- The formats that this build reads, as a class of a pattern; see format.ts. The number at the head of a record is the lowest format
-- that has all of its content: a build that has nothing newer to say in it writes it as the first one did.
local READABLE = '[2345]'
