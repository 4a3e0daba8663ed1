-- Reads some crons of the catalog of a space, as of one moment of the server's clock.
--
-- the_space  whose catalog it is
-- the_names  of crons
-- Returns  [version, epoch ms, [[name, generations], ...], [[name, declared], ...], born, epoch ms, or empty], numbers as text
--
-- The generations of a cron are lines, the newest first, in the fields that the catalog in Redis keeps them in: generation,
-- since, state, nonce, who and definition, with a tab between each two. Planned at each call: for few crons as for a key, for
-- many as for a table.
create or replace function read_catalog(the_space text, the_names text[]) returns json
language plpgsql
set search_path from current set plan_cache_mode = force_custom_plan
as $$
declare
  at_now bigint;
begin
  perform share_catalog(the_space);
  at_now := now_ms();
  return (
    select json_build_array(
      coalesce((select version from catalog_state where space = the_space), 0)::text,
      at_now::text,
      coalesce((select json_agg(json_build_array(cron, lines)) from (
        select cron, string_agg(
          generation || coalesce('@' || renumbered_at, '') || e'\t' || since || e'\t' || state || e'\t' || nonce || e'\t'
            || who || e'\t' || definition, e'\n' order by generation desc
        ) as lines
        from catalog_generation where space = the_space and cron = any(the_names) group by cron
      ) as each), '[]'),
      coalesce((
        select json_agg(json_build_array(name, seq || ' ' || hash || ' ' || standing || ' ' || source))
        from catalog_cron where space = the_space and name = any(the_names)
      ), '[]'),
      coalesce((select born_at::text from catalog_state where space = the_space), '')
    )
  );
end $$;
