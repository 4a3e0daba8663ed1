-- Accepts, in two statements, those claims of single occurrences that nothing speaks against. Expects the rows of all their
-- crons to be locked. Whatever needs a second look is left to refuse_claim and accept_claim, one by one.
--
-- the_space  whose crons they are
-- the_now  epoch ms
-- the_tolerance  for clocks that differ, ms
-- the_recover  look again after, ms
-- the_claims  as claim_occurrences gets them
-- Returns  the ids of the runs that were made
--
-- What it demands is what refuse_claim refuses, and what accept_claim has more to do for: such as an open run that the new one
-- must not overlap with. Of two claims of one cron only the first: the second starts from the cursor that this one leaves.
create or replace function claim_plain_occurrences(
  the_space text, the_now bigint, the_tolerance bigint, the_recover bigint, the_claims jsonb
) returns setof text
language plpgsql
set search_path from current
as $$
begin
  return query with asked as (
    select listed.*, row_number() over (partition by listed.name order by listed.place) as turn
    from rows from (jsonb_to_recordset(the_claims) as (
      cron text, fence bigint, term text, holder text, generation bigint, nonce text, cursor bigint, began bigint,
      overlap text, most bigint, "runId" text, instant bigint, "dueAt" bigint, reason text, skips jsonb, missed jsonb,
      "startBy" bigint, handler text, payload text
    )) with ordinality as listed (
      name, fence, term, holder, generation, nonce, planned_from, began, overlap, most, new_id, instant, due, reason, skips,
      missed, start_by, handler, payload, place
    )
  ), plain as materialized (
    select asked.*, found.at_row
    from asked
    -- Kept apart by its offset: joined freely, it could be a plan that reads all of the table.
    cross join lateral (
      select cron.ctid as at_row from cron
      where cron.space = the_space and cron.name = asked.name
        and (asked.fence > cron.fence or (asked.fence = cron.fence and asked.term = cron.term))
        and asked.generation >= cron.generation
        and cron.cursor is not distinct from asked.planned_from and (cron.cursor is null or asked.instant > cron.cursor)
        and coalesce(cron.paused_until, 0) <= the_now
        and (asked.overlap = 'allow' or asked.most > (
          select count(*) from run
          where run.space = the_space and run.cron = cron.name and run.is_open and run.open_until > the_now
        ))
      offset 0
    ) found
    where asked.new_id is not null and asked.skips = '[]' and asked.due <= the_now + the_tolerance
      and asked.turn = 1
  ), moved as (
    update cron set cursor = plain.instant, fence = plain.fence, term = plain.term, generation = plain.generation,
      began = case when plain.planned_from is null then plain.began else cron.began end
    from plain where cron.ctid = plain.at_row
  )
  insert into run (
    space, id, cron, scheduled_at, due_at, reason, missed_count, missed_from, missed_to, generation,
    claim_fence, claimed_by, claim_nonce, claimed_at, overlap, max_concurrency, start_by, handler, payload,
    state, delivery, open_until, watch_at, pending
  )
  select the_space, plain.new_id, plain.name, plain.instant, plain.due, plain.reason,
    (plain.missed ->> 'count')::bigint, (plain.missed ->> 'from')::bigint, (plain.missed ->> 'to')::bigint, plain.generation,
    plain.fence, plain.holder, plain.nonce, the_now, plain.overlap, plain.most, plain.start_by, plain.handler, plain.payload,
    'claimed', 1, 9223372036854775807, the_now + the_recover, true
  from plain
  returning run.id;
end $$;
