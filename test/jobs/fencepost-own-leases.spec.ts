import { Leases, formatFence } from '@fencepost/lease';
import { Election, RedisSemaphoreStore, Semaphores } from '@fencepost/lease/coordination';
import { RedisLeaseStore } from '@fencepost/lease/redis';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { describe, expect, it, onTestFinished } from 'vitest';
import { declared, fencepost, FencepostDeployment } from '../support/fencepost.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const HOLDER = 'batch/0123456789abcdef';
const SHOWN = 'batch/01234567';

async function stage() {
  const space = { redis: spaces.redis(), ...spaces.fresh() };
  const at = await FencepostDeployment.of(space, [declared('nightly')]);
  const store = new RedisLeaseStore(space);
  const leases = new Leases({ store, holder: HOLDER, ttl: '1m' });
  const semaphores = new Semaphores({ store: new RedisSemaphoreStore(space), holder: HOLDER, ttl: '1m' });
  onTestFinished(async () => {
    await leases.close();
    await semaphores.close();
  });
  const clear = (name: string, ...args: string[]) =>
    fencepost(['leases', 'clear', name, '--reason', 'its process is dead', '--watch', '0s', ...args], {
      env: at.env,
      host: 'host-1',
    });
  return { at, space, store, leases, semaphores, clear, trail: new RedisAuditTrail(space) };
}

describe('fencepost leases', () => {
  it('shows own leases, each place of a semaphore and roles: holder, fence, since when, and how long', async () => {
    const { at, leases, semaphores } = await stage();
    const before = Date.now() - 1_000;
    const lease = await leases.acquire({ type: 'invoice', id: '42' });
    const gpu = semaphores.of('gpu', { places: 2 });
    const places = [await gpu.acquire(), await gpu.acquire()];
    const leadership = await new Election({ leases }).campaign('leader');
    const { json, code } = await at.json('leases');
    expect(code).toBe(0);
    const { own, next } = json as { own: Record<string, unknown>[]; next: string | null };
    expect(next).toBeNull();
    const shown = own.map(({ kind, resource, holder, fence }) => [kind, resource, holder, fence].join(' '));
    expect(new Set(shown)).toEqual(
      new Set([
        `election role:leader ${SHOWN} ${leadership.fence}`,
        `lease invoice:42 ${SHOWN} ${lease.fence}`,
        ...places.map(({ fence }) => `semaphore gpu ${SHOWN} ${fence}`),
      ]),
    );
    for (const { heldSince, remainingMs, holderIsPod } of own) {
      expect(Date.parse(String(heldSince))).toBeGreaterThan(before);
      expect(Date.parse(String(heldSince))).toBeLessThan(Date.now() + 1_000);
      expect([Number(remainingMs) > 0, holderIsPod]).toEqual([true, false]);
    }
    const { out } = await at.ask('leases');
    expect(out).toMatch(/invoice:42 +lease +batch\/01234567 +\d+ +\d+\.\d s +20\S+Z +unknown/);
    expect(out).not.toContain(HOLDER);
  });

  it('shows the hash of a sensitive id, and never the id', async () => {
    const { at, leases } = await stage();
    await leases.acquire({ type: 'patient', id: 'anna', sensitive: true });
    const { out } = await at.ask('leases');
    expect(out).toMatch(/patient:sha256-[0-9a-f]{32}/);
    expect(out).not.toContain('anna');
  });

  it('is narrowed to a kind, a name or a holder, and goes on after as many as were asked for', async () => {
    const { at, leases, semaphores } = await stage();
    for (let n = 0; n < 30; n += 1) await leases.acquire({ type: 'invoice', id: n });
    await leases.acquire('other');
    await semaphores.of('gpu', { places: 1 }).acquire();
    const names = async (...args: string[]) => {
      const { json } = await at.json('leases', ...args);
      const { own, next } = json as { own: { resource: string }[]; next: string | null };
      return { names: own.map(({ resource }) => resource), next };
    };
    expect((await names('--kind', 'semaphore')).names).toEqual(['gpu']);
    expect((await names('--resource', 'oth')).names).toEqual(['other']);
    expect((await names('--holder', 'nobody')).names).toEqual([]);
    expect((await names('--kind', 'cron')).names).toEqual([]);
    const seen = new Set<string>();
    let pages = 0;
    for (let after: string[] = []; ; pages += 1) {
      const page = await names('--limit', '5', ...after);
      for (const name of page.names) seen.add(name);
      if (page.next === null) break;
      after = ['--after', page.next];
    }
    expect([seen.size, pages > 1]).toEqual([32, true]);
    expect((await at.ask('leases', '--after', 'nonsense')).code).toBe(2);
  });
});

describe('fencepost leases clear', () => {
  it('of an own lease says what it is, asks whether its downstream is safe, and records it', async () => {
    const { at, leases, store, trail } = await stage();
    const lease = await leases.acquire({ type: 'invoice', id: '42' });
    const questions: string[] = [];
    const answered = (answer: string) => ({
      env: at.env,
      ask: async (question: string) => (questions.push(question), answer),
    });
    const args = ['leases', 'clear', 'invoice:42', '--reason', 'dead', '--watch', '0s', '--json'];
    const declined = await fencepost(args, answered(''));
    expect([declined.code, declined.json]).toEqual([1, { kind: 'lease', resource: 'invoice:42', verdict: 'declined' }]);
    expect(declined.err).toContain('invoice:42 is a lease of the application itself.');
    expect(questions[0]).toContain('Is its downstream safe');
    expect(await trail.list({ limit: 10 })).toEqual([]);
    const agreed = await fencepost(args, answered('y'));
    expect([agreed.code, agreed.json]).toMatchObject([0, { verdict: 'cleared', cleared: { resource: 'invoice:42' } }]);
    expect(await store.inspect(['invoice:42'])).toEqual([null]);
    const before = { kind: 'lease', resource: 'invoice:42', downstreamSafe: true };
    expect(await trail.list({ limit: 10 })).toMatchObject([{ action: 'clear-lease', reason: 'dead', before }]);
    expect(await leases.renewMany([lease])).toEqual([false]);
  });

  it('needs --yes and --downstream-safe where nobody can be asked', async () => {
    const { leases, store, clear, trail } = await stage();
    const { fence } = await leases.acquire('own');
    for (const flags of [[], ['--yes'], ['--downstream-safe']]) {
      const { code, err } = await clear('own', ...flags);
      expect([code, err]).toEqual([2, expect.stringContaining('--downstream-safe')]);
    }
    expect(await store.inspect(['own'])).toMatchObject([{ fence }]);
    expect(await trail.list({ limit: 10 })).toEqual([]);
    expect((await clear('own', '--yes', '--downstream-safe')).code).toBe(0);
  });

  it('frees the one place of a semaphore that is named by its fence, and asks which where several are held', async () => {
    const { semaphores, clear } = await stage();
    const gpu = semaphores.of('gpu', { places: 2 });
    const [first, second] = [await gpu.acquire(), await gpu.acquire()];
    const unnamed = await clear('gpu', '--yes', '--downstream-safe');
    expect([unnamed.code, unnamed.err]).toEqual([2, expect.stringContaining(`semaphore with fence ${first.fence}`)]);
    await clear('gpu', '--yes', '--downstream-safe', '--fence', formatFence(first.fence));
    expect((await gpu.holders()).map(({ fence }) => fence)).toEqual([second.fence]);
  });

  it('ends the role of an election', async () => {
    const { leases, clear, store } = await stage();
    await new Election({ leases }).campaign('leader');
    const { json } = await clear('role:leader', '--yes', '--downstream-safe', '--json');
    expect(json).toMatchObject({ kind: 'election', resource: 'role:leader', verdict: 'cleared' });
    expect(await store.inspect(['role:leader'])).toEqual([null]);
  });

  it('leaves a lease of another fence alone', async () => {
    const { leases, clear, store } = await stage();
    const { fence } = await leases.acquire('own');
    const { code, json } = await clear('own', '--yes', '--downstream-safe', '--fence', '1', '--json');
    expect([code, json]).toMatchObject([1, { verdict: 'moved', found: { fence: formatFence(fence) } }]);
    expect(await store.inspect(['own'])).toMatchObject([{ fence }]);
  });

  it('watches who takes it next, without being asked to', async () => {
    const { at, leases, space } = await stage();
    const { fence } = await leases.acquire('own');
    const next = new Leases({ store: new RedisLeaseStore(space), holder: 'other/89abcdef0123', ttl: '1m' });
    onTestFinished(() => next.close());
    const waiting = next.acquire('own', { wait: '20s' });
    const args = [
      'leases',
      'clear',
      'own',
      '--reason',
      'dead',
      '--yes',
      '--downstream-safe',
      '--watch',
      '1s',
      '--json',
    ];
    const { code, json } = await fencepost(args, { env: at.env });
    expect([code, json]).toMatchObject([
      0,
      { watch: { verdict: 'clean', holding: { holder: 'other/89abcdef' }, observations: [{ kind: 'next-holder' }] } },
    ]);
    expect((await waiting).fence).toBeGreaterThan(fence);
  });

  it.each(['invoice:42', 'nigthly'])('says in one sentence that %s is held by nobody and is no cron', async (name) => {
    const { clear } = await stage();
    const { code, err } = await clear(name, '--yes');
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(`Nobody holds a lease named "${name}", and it is no cron`),
    ]);
  });
});
