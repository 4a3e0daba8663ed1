-- Says what a call answered for declarations when it was sent before.
--
-- the_space  whose catalog it is
-- the_nonce  of the call, or empty
-- the_declarations  a list of {name}
-- the_words  what judge_declaration returns for each declaration now
-- Returns  a word for each declaration: the earlier one where the call has begun a generation, else the present one
create or replace function recall_words(the_space text, the_nonce text, the_declarations jsonb, the_words text[]) returns text[]
language plpgsql
set search_path from current
as $$
begin
  if the_nonce = '' then return the_words; end if;
  return array(
    select coalesce((
      select answered from unnest(array['created', 'changed', 'reverted', 'restored', 'taken']) as answered
      join catalog_generation on nonce = sign_word(the_nonce, answered)
      where space = the_space and cron = one->>'name'
        -- Of a generation that is about to begin there is no earlier one; and an operator's removal came later than any.
        and (word = 'same' or word ~ '^(superseded|foreign) ')
      order by generation desc limit 1
    ), word)
    from jsonb_array_elements(the_declarations) with ordinality as declared (one, place)
    join unnest(the_words) with ordinality as judged (word, at) on at = place
    order by place
  );
end $$;
