import type { Role } from '@fencepost/jobs';
import { describe, expect, it } from 'vitest';
import { entryNamed, found, liveOf, NOW, processNamed, redisOf, withBoth, type Over } from './doctor.stage.js';
import { Doctor, type DoctorPorts } from './doctor.js';

describe('Doctor', () => {
  const nothing = async () => [];
  const away = () => Promise.reject(new Error('away'));
  const ports: DoctorPorts = {
    catalog: { read: async () => ({ version: 1, readAt: NOW, entries: [entryNamed()] }) },
    operator: { list: nothing, notable: nothing, newestRuns: nothing },
    runs: { uncertain: nothing },
    membership: { lastHeard: async () => NOW, processes: nothing },
    revisions: { read: async () => liveOf([]) },
    journal: { latest: nothing },
    ledger: 'redis',
    redis: async () => redisOf(),
    lost: async () => ({ count: 0, names: [] }),
    postgres: null,
  };
  const codesOf = async (over: Partial<DoctorPorts>) => {
    const findings = await new Doctor({ ...ports, ...over }).examine();
    return findings.map(({ level, code, text }) => (level === 'ok' ? text : `${level} ${code}`));
  };

  it('concludes nothing from pods that it cannot read, and says that they are unknown', async () => {
    expect(await codesOf({})).toContain('bad NO_WORKER');
    expect(await codesOf({ revisions: { read: away } })).toEqual([
      'bad UNREAD',
      'Checked unknown pods, 1 cron, Redis 7.0.15, the ledger in redis: no further findings.',
    ]);
  });

  it('concludes nothing from heartbeats that it cannot read', async () => {
    const membership = { lastHeard: async () => NOW, processes: away };
    expect(await codesOf({ membership })).toEqual(['bad UNREAD', expect.stringContaining('Checked 0 pods, 1 cron,')]);
  });

  it('counts no crons of a catalog that it cannot read', async () => {
    const told = await codesOf({ catalog: { read: away }, postgres: away });
    expect(told.at(-1)).toContain('unknown crons,');
  });

  it('tells of a live process that reports nothing', async () => {
    const processes = async () => [processNamed('old/0123456789')];
    expect(await codesOf({ membership: { lastHeard: async () => NOW, processes } })).toContain('note POD_UNREPORTED');
  });
});

describe('what the doctor finds when the pods lost their registry a moment ago', () => {
  const ofNewRegistry = (role: Role): Over => {
    const { pods = [] } = withBoth({ roles: [role] });
    return { pods, live: liveOf(pods, { bornAt: NOW - 3_000 }) };
  };

  it('calls schedulers and workers unknown that have not reported yet', () => {
    expect(found(ofNewRegistry('worker'))).toEqual(['note NO_SCHEDULER schedulers']);
    expect(found(ofNewRegistry('scheduler'))).toEqual(['note NO_WORKER workers']);
  });

  it('does not miss a handler that a pod may still report', () => {
    const entries = [entryNamed({ name: 'gone' })];
    expect(found({ ...ofNewRegistry('worker'), entries })).toEqual(['note NO_SCHEDULER schedulers']);
  });
});
