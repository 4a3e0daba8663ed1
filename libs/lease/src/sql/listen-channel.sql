-- Has this connection told what is announced on a channel, until it ends.
--
-- Returns  nothing
LISTEN :"channel"
