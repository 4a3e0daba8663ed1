-- Makes the nonce of a generation: that of the call that began it, and behind it the word that was answered, as a digit.
--
-- the_nonce  of the call, or empty
-- the_word  that begins a generation
-- Returns  the nonce, empty for a call without one
create or replace function sign_word(the_nonce text, the_word text) returns text
language sql immutable
as $$
  select case when the_nonce = '' then ''
    else the_nonce || array_position('{created,changed,reverted,restored,taken}', the_word)::text end
$$;
