import { roleOf, parseTokens } from '@fencepost/pod/tokens';
import { describe, expect, it } from 'vitest';
import { RedisPodRegistry } from '../../libs/operations/src/pods/redis-pod-registry.js';
import { fencepost } from '../support/fencepost.js';
import { declared, FencepostDeployment } from '../support/fencepost-deployment.js';
import { podCard } from '../support/pod-card.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

interface DoctorFinding {
  readonly code: string;
  readonly level: string;
  readonly subject: string;
}

async function deployment() {
  const space = { redis: spaces.redis(), ...spaces.fresh() };
  const at = await FencepostDeployment.of(space, [declared('nightly')]);
  const registry = new RedisPodRegistry(space);
  // Read from the store, so that no time of this machine stands against its clock.
  const startedAt = (await at.catalog.read()).readAt;
  const card = (name: string) => podCard({ pod: `${name}/0123456789`, startedAt, buildSeq: 7, handlers: ['nightly'] });
  return { at, registry, card };
}

describe('fencepost doctor', () => {
  it('finds nobody alive, says what to do, and fails', async () => {
    const { at } = await deployment();
    const { code, json } = await at.json('doctor');
    expect(code).toBe(1);
    expect(json).toContainEqual({
      code: 'NO_SCHEDULER',
      level: 'bad',
      subject: 'schedulers',
      text: expect.stringContaining('no cron fires') as string,
      todo: expect.stringContaining('npm start') as string,
    });
    const { out } = await at.ask('doctor');
    expect(out).toContain('BAD  NO_SCHEDULER  schedulers');
    expect(out).toContain('     To do: ');
  });

  it('has nothing to say of pods and crons that are as they should be', async () => {
    const { at, registry, card } = await deployment();
    await registry.report(card('pod-a'));
    await registry.report(card('pod-b'));
    const { json } = await at.json('doctor');
    const findings = json as DoctorFinding[];
    // How the server of the tests is set is its own affair.
    expect(findings.filter(({ subject }) => !subject.startsWith('redis'))).toMatchObject([{ code: 'LOOKED_AT' }]);
  });

  it('does well where nothing is bad and nothing a warning', async () => {
    const { at, registry, card } = await deployment();
    await registry.report(card('pod-a'));
    await registry.report(card('pod-b'));
    const { code, json } = await at.json('doctor');
    const worst = (json as DoctorFinding[]).some(({ level }) => level === 'bad' || level === 'warn');
    expect(code).toBe(worst ? 1 : 0);
  });

  it('finds a run that no worker can carry out, and a lost program', async () => {
    const { at, registry, card } = await deployment();
    await registry.report({ ...card('pod-a'), handlers: [] });
    await registry.report({ ...card('pod-b'), handlers: [] });
    expect((await at.json('doctor')).json).toContainEqual(
      expect.objectContaining({ code: 'NO_CAPABLE_WORKER', level: 'bad', subject: 'nightly' }),
    );
    await registry.report({ ...card('pod-a'), app: 'shop' });
    await registry.report({ ...card('pod-b'), app: 'shop' });
    expect((await at.json('doctor')).json).toContainEqual(
      expect.objectContaining({ code: 'ORPHANED', level: 'warn', subject: 'nightly' }),
    );
  });

  it('is away where the store is', async () => {
    const said = await fencepost(['doctor', '--redis', 'redis://127.0.0.1:1']);
    expect(said.code).toBe(3);
  });
});

describe('fencepost token', () => {
  it('prints a token once, and the line by which it is known', async () => {
    const { code, json } = await fencepost(['token', 'grafana', '--role', 'viewer', '--json']);
    const { token, line } = json as { token: string; line: string };
    expect(code).toBe(0);
    expect(roleOf(parseTokens(line), token)).toEqual({ name: 'grafana', role: 'viewer' });
    const { out } = await fencepost(['token', 'grafana', '--role', 'viewer'], { terminal: true });
    expect(out).toMatch(/^Token: fencepost_\S{43}\nLine: {2}grafana:viewer:[0-9a-f]{64}\n/);
  });

  it.each([
    [['token', 'a:b', '--role', 'viewer'], 'letters, digits'],
    [['token', 'a', '--role', 'root'], 'viewer, operator, admin'],
    [['token', 'a'], '--role'],
  ])('refuses %j', async (args, words) => {
    const { code, err, out } = await fencepost(args);
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    expect(out).toBe('');
  });
});
