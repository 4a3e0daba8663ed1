import { RedisPodRegistry } from '@fencepost/jobs/internal';
import { definitionSet, type Declaration } from '@fencepost/ledger/catalog';
import { SCHEMAS } from '@fencepost/operations/presenting';
import { describe, expect, it } from 'vitest';
import { podCard } from '../contracts/pod-registry.contract.js';
import { declared, fencepost, FencepostDeployment } from '../support/fencepost.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
/** As the pods have it configured; the command line has nothing of the kind. */
const REMOVE_AFTER_MS = 90_000;

/** Pods of two revisions of one app: the newer one has another schedule for "mail", and no "report" any more. */
async function deployment() {
  const space = { redis: spaces.redis(), ...spaces.fresh() };
  const at = await FencepostDeployment.of(space, []);
  const registry = new RedisPodRegistry(space);
  const pod = async (name: string, app: string, declarations: readonly Declaration[]) => {
    const revision = await at.catalog.revisions.enrol(definitionSet({ app }, declarations));
    const handlers = declarations.map(({ definition }) => definition.name);
    const startedAt = (await at.catalog.read([])).readAt;
    const about = { app, revision, handlers, startedAt, removeAfterMs: REMOVE_AFTER_MS };
    await registry.report(podCard({ pod: `${name}/0123456789`, ...about }));
    await at.catalog.declare(declarations, { app, revision });
    return { app, revision };
  };
  const older = await pod('old', 'shop', [declared('mail'), declared('report')]);
  const newer = await pod('new', 'shop', [declared('mail', '0 4 * * *')]);
  const wide = (...args: string[]) => fencepost(args, { env: at.env, width: 200 });
  return { at, registry, pod, older, newer, wide };
}

type Findings = readonly { readonly code: string; readonly level: string; readonly subject: string }[];

async function findings(at: FencepostDeployment): Promise<string[]> {
  const { json } = await at.json('doctor');
  const own = (json as Findings).filter(({ subject }) => !subject.startsWith('redis'));
  return own.flatMap(({ level, code, subject }) => (level === 'ok' ? [] : [`${level} ${code} ${subject}`]));
}

describe('fencepost show', () => {
  it('says which revision is in force, since when, and what each live pod declares', async () => {
    const { at, wide } = await deployment();
    const { json } = await at.json('show', 'mail');
    expect(SCHEMAS.CronDetail.parse(json)).toMatchObject({
      ...{ app: 'shop', revision: 2 },
      declarations: {
        revisions: [
          { app: 'shop', revision: 2, pods: 1, declares: 'same' },
          { app: 'shop', revision: 1, pods: 1, declares: 'differently' },
        ],
        undeclared: null,
      },
    });
    const { out } = await wide('show', 'mail');
    expect(out).toMatch(/^declared +by shop, revision 2; in force by shop revision 2, since 20\d\d-\S+Z$/m);
    expect(out).toMatch(/^live +revision 2 \(1 pod\) declares it so · revision 1 \(1 pod\) declares it differently$/m);
  });

  it('says when a cron that no live pod declares is removed, and why an earlier definition is back', async () => {
    const { at, registry, older, newer, pod, wide } = await deployment();
    await registry.leave('old/0123456789');
    const { json } = await at.json('show', 'report');
    const { declarations } = SCHEMAS.CronDetail.parse(json);
    const { since, removedAt } = declarations?.undeclared ?? {};
    expect(Date.parse(removedAt ?? '') - Date.parse(since ?? '')).toBe(REMOVE_AFTER_MS);
    expect((await wide('show', 'report')).out).toMatch(
      /^undeclared +no live pod declares it since \S+; removed at about \S+, unless one does$/m,
    );

    await registry.leave('new/0123456789');
    await pod('old', 'shop', [declared('mail'), declared('report')]);
    await at.catalog.declare([declared('mail'), declared('report')], { ...older, gone: [newer] });
    expect((await wide('show', 'mail')).out).toMatch(
      /^declared +by shop, revision 1; in force by shop revision 1: the newer revision has no live pod any more, since /m,
    );
  });

  it('says what was created at run time, and by whom', async () => {
    const { at } = await deployment();
    await at.catalog.put(declared('made'), { expected: null, by: 'ada', reason: 'asked for' });
    const { out } = await at.ask('show', 'made');
    expect(out).toMatch(/^declared +created at run time; in force by ada: asked for, since /m);
    expect(out).not.toMatch(/^live/m);
  });
});

describe('fencepost history', () => {
  it('lists each definition with its author, reason and changes, the newest first', async () => {
    const { at, wide, older, newer } = await deployment();
    await at.catalog.declare([declared('mail'), declared('report')], { ...older, gone: [newer] });
    const { out } = await wide('history', 'mail');
    const table = out.slice(out.indexOf('GENERATION')).trimEnd().split('\n');
    expect(
      table.map((line) =>
        line
          .trim()
          .replaceAll(/20\d\d-\S+Z/g, '<time>')
          .replaceAll(/ +/g, ' '),
      ),
    ).toEqual([
      'GENERATION SINCE (UTC) STATE WHAT',
      '3 <time> active by shop revision 1: the newer revision has no live pod any more',
      'expression: 0 4 * * * -> 0 3 * * *',
      '2 <time> active by shop revision 2',
      'expression: 0 3 * * * -> 0 4 * * *',
      '1 <time> active by shop revision 1',
      '0 3 * * * UTC',
    ]);
    expect((await at.json('history', 'mail')).json).toMatchObject({
      ...{ name: 'mail', app: 'shop', revision: 1 },
      generations: [{ by: 'shop revision 1' }, { by: 'shop revision 2' }, { by: 'shop revision 1' }],
    });
  });

  it('names the cron that does not exist', async () => {
    const { at } = await deployment();
    expect(await at.ask('history', 'nowhere')).toMatchObject({
      code: 2,
      err: expect.stringContaining('"nowhere"') as string,
    });
  });
});

describe('fencepost pods', () => {
  it('shows app and revision of each pod', async () => {
    const { registry, wide } = await deployment();
    await registry.report(podCard({ pod: 'scheduler/0', roles: ['scheduler'], app: 'scheduler', revision: null }));
    const { out } = await wide('pods');
    expect(out).toMatch(/^POD +ROLES +VERSION +ZONES +APP +REVISION /);
    expect(out).toMatch(/^new\/01234567 .* shop +2 /m);
    expect(out).toMatch(/^scheduler\/0 .* scheduler +- /m);
  });
});

describe('fencepost doctor', () => {
  it('names the crons that a newer revision decides while a deployment rolls', async () => {
    const { at } = await deployment();
    expect(await findings(at)).toEqual(['note MIXED_REVISIONS shop', 'note SUPERSEDED mail']);
  });

  it('names what no live pod declares, and does not call it a cron without a worker', async () => {
    const { at, registry, pod } = await deployment();
    await pod('new-2', 'shop', [declared('mail', '0 4 * * *')]);
    await registry.leave('old/0123456789');
    expect(await findings(at)).toEqual(['note UNDECLARED report']);
  });

  it('names the crons of another app that a pod declares, and two programs under one app name', async () => {
    const { at, registry, pod } = await deployment();
    await registry.leave('old/0123456789');
    await pod('other', 'billing', [declared('mail', '0 5 * * *'), declared('invoice')]);
    await pod('shared', 'billing', [declared('charge')]);
    expect(await findings(at)).toEqual(['warn APP_SHARED billing', 'warn NAME_TAKEN mail', 'note UNDECLARED report']);
  });
});

describe('fencepost why', () => {
  it('says which revision changed the schedule that had the instant', async () => {
    const { at } = await deployment();
    const { json } = await at.json('why', 'mail', '2038-01-01T03:00:00Z');
    const { answer } = SCHEMAS.WhyReport.parse(json);
    expect(answer).toContain(
      'because shop revision 2 changed its schedule from "0 3 * * *" in UTC to "0 4 * * *" in UTC',
    );
  });
});
