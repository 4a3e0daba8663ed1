import { StoreAwayError } from '@fencepost/lease';
import { beforeEach, describe, expect, it } from 'vitest';
import { podCard } from '../../../../test/contracts/pod-registry.contract.js';
import { CRON } from '../../../../test/support/audit-history.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import { POD_GONE_MS } from '@fencepost/jobs/internal';
import { MemoryPodRegistry } from '@fencepost/jobs/internal/scheduling';
import { CronCatalog } from './cron-catalog.js';
import { DeclaredCronError } from './declared-crons.js';

const ORDER = { by: 'ada', reason: 'of no use' };

class Away extends StoreAwayError {
  readonly code = 'STORE_AWAY';
}

let stage: OperatingStage;
let pods: MemoryPodRegistry;
let crons: CronCatalog;

/** `CRON` is declared by a build of "test", and a run-time cron is beside it. */
beforeEach(async () => {
  stage = new OperatingStage();
  const { catalog, clock, audit } = stage;
  pods = new MemoryPodRegistry(clock);
  crons = new CronCatalog({ catalog, clock, audit, pods });
  await stage.declare({});
  await crons.set('made', { expression: '@daily' }, ORDER);
  await live('other');
  await clock.advance(POD_GONE_MS);
});

/** A pod of the app reports that it has a method for the crons. */
async function live(app: string, ...handlers: readonly string[]): Promise<void> {
  await pods.report(podCard({ pod: `${app}/0123456789abcdef`, app, handlers }));
}

const stateOf = async (cron: string) => (await crons.get(cron))?.state;
const removals = async () =>
  (await stage.audit.list({ limit: 100 })).filter(({ action }) => action === 'remove').toReversed();

async function refusalOf(removal: Promise<unknown>): Promise<DeclaredCronError> {
  const error: unknown = await removal.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DeclaredCronError);
  return error as DeclaredCronError;
}

describe('CronCatalog.remove', () => {
  it('refuses a cron that a live pod declares, and says who does and what to do', async () => {
    await live('test', CRON, 'other');
    const { code, apps, message } = await refusalOf(crons.remove(CRON, ORDER));
    expect([code, apps]).toEqual(['DECLARED_CRON', ['test']]);
    expect(message).toBe(
      `The cron "${CRON}" can't be removed while live pods of the app "test" declare it: run "fencepost pause ${CRON} ` +
        `--reason <words>", or remove it from the code of the app "test".`,
    );
    expect(await stateOf(CRON)).toBe('active');
    expect(await removals()).toEqual([]);
  });

  it('refuses a disabled one too, and names every app that declares it', async () => {
    await crons.set(CRON, { disabled: true }, ORDER);
    await Promise.all([live('test', CRON), live('billing', CRON)]);
    const { apps, message } = await refusalOf(crons.remove(CRON, ORDER));
    expect(apps).toEqual(['billing', 'test']);
    expect(message).toContain('live pods of the apps "billing" and "test" declare it');
  });

  it('removes a declared cron once no live pod declares it, and records what brings it back', async () => {
    await live('test', CRON);
    await stage.clock.advance(POD_GONE_MS);
    await live('billing', 'other');
    expect(await crons.remove(CRON, ORDER)).toEqual({ declaredBy: 'test' });
    expect(await stateOf(CRON)).toBe('removed');
    expect(await removals()).toMatchObject([
      {
        cron: CRON,
        after: { state: 'removed', declaredBy: 'test', comesBack: 'when a pod of "test" declares it again' },
      },
    ]);
  });

  it('refuses a declared cron where no pod registry tells who is live', async () => {
    const { catalog, clock } = stage;
    const { apps, message } = await refusalOf(new CronCatalog({ catalog, clock }).remove(CRON, ORDER));
    expect(apps).toEqual(['test']);
    expect(message).toContain('because the app "test" declared it and no pod registry tells yet whether it still does');
  });

  it('removes nothing that is declared while the registry does not answer', async () => {
    const away = { look: () => Promise.reject(new Away('The store did not answer.')) };
    const { catalog, clock } = stage;
    await expect(new CronCatalog({ catalog, clock, pods: away }).remove(CRON, ORDER)).rejects.toThrow(Away);
    expect(await stateOf(CRON)).toBe('active');
  });

  it('removes a cron that was made at run time, whoever has a method of its name', async () => {
    await live('test', 'made');
    expect(await crons.remove('made', ORDER)).toEqual({ declaredBy: null });
    expect(await removals()).toMatchObject([{ cron: 'made', after: { state: 'removed' } }]);
  });
});

describe('CronCatalog.removeMany', () => {
  const DECLARED = {
    cron: CRON,
    position: 2,
    code: 'DECLARED_CRON',
    detail: expect.stringContaining('live pods') as unknown,
  };

  it('reports each cron that a live pod declares, and removes the others', async () => {
    await live('test', CRON);
    const report = await crons.removeMany(['made', CRON, 'nobody'], ORDER);
    expect(report).toMatchObject({
      asked: 3,
      changed: 1,
      unchanged: 1,
      failed: 1,
      problems: [DECLARED],
      stopped: null,
    });
    expect([await stateOf('made'), await stateOf(CRON)]).toEqual(['removed', 'active']);
    expect(await removals()).toMatchObject([{ crons: ['made'], after: { changed: 1, failed: [CRON] } }]);
  });

  it('says so in a dry run', async () => {
    await live('test', CRON);
    const report = await crons.removeMany(['made', CRON], { ...ORDER, dryRun: true });
    expect(report).toMatchObject({ changed: 1, failed: 1, problems: [DECLARED] });
    expect(await stateOf('made')).toBe('active');
  });

  it('records which of the removed crons come back, and with which app', async () => {
    await crons.removeMany(['made', CRON], ORDER);
    expect(await removals()).toMatchObject([
      { after: { changed: 2, failed: [], comeBackWhenDeclaredBy: { [CRON]: 'test' } } },
    ]);
  });
});
