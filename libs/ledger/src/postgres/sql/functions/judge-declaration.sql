-- Compares a declaration with the record of its cron: the only place that decides.
--
-- known  the cron; null where there is none
-- same  whether the declaration has the content that is known
-- gone  whether the revision in force has no live pod
-- the_app  the declaring app
-- the_order  the order of its revision
-- Returns  a word of catalog/declaring.ts; behind `superseded` stands the order that is in force, behind `foreign` the app
--
-- A single immutable expression, so that PostgreSQL inlines it: a function call per declaration takes ten times as long.
create or replace function judge_declaration(
  known catalog_cron, same boolean, gone boolean, the_app text, the_order bigint
) returns text
language sql immutable
as $$
  select case
    when known.name is null then 'created'
    when known.source = '' then case when same and known.standing = 'live' then 'noted' else 'changed' end
    when known.standing = 'dropped' then 'restored'
    when not owns_cron(known.source, known.seq, the_app) then case
      when known.standing = 'removed' then 'restored'
      when not gone then 'foreign ' || known.source
      when same then 'noted' else 'taken' end
    -- An operator of a former release removed it: that stands until its declaration changes.
    when known.standing = 'removed' then case when same then 'withheld' else 'restored' end
    when known.seq > the_order and not is_former(known.seq) and not gone then
      case when same then 'same' else 'superseded ' || known.seq::text end
    -- An operator's change stands until the code declares something new.
    when same then case when known.seq = the_order then 'same' else 'noted' end
    when known.seq > the_order and not is_former(known.seq) then 'reverted'
    else 'changed'
  end
$$;
