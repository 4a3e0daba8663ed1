-- Begins a generation of a cron, and deletes those that are too old to be kept.
--
-- the_space  whose cron it is; its catalog is locked
-- the_cron  its name
-- the_change  {state, nonce, who, definition, effectiveAfter, kept}; without a definition the one before stays
-- the_now  epoch ms
-- Returns  the generation
create or replace function begin_generation(the_space text, the_cron text, the_change jsonb, the_now bigint)
returns catalog_generation
language plpgsql
set search_path from current
as $$
declare
  last catalog_generation;
  begun catalog_generation;
begin
  select * into last from catalog_generation where space = the_space and cron = the_cron order by generation desc limit 1;
  insert into catalog_generation (space, cron, generation, since, state, nonce, who, definition)
  values (
    the_space, the_cron, coalesce(last.generation, 0) + 1,
    -- Never before the one it follows, also when the clock went back: an instant would belong to both.
    case when last.generation is null then the_now
      else greatest(the_now + (the_change->>'effectiveAfter')::bigint, last.since) end,
    the_change->>'state', the_change->>'nonce', the_change->>'who', coalesce(the_change->>'definition', last.definition)
  )
  returning * into begun;
  if last.generation is null then
    delete from catalog_forgotten where space = the_space and name = the_cron;
  end if;
  delete from catalog_generation
  where space = the_space and cron = the_cron and generation < begun.generation - (the_change->>'kept')::bigint;
  return begun;
end $$;
