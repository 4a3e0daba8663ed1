import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { RotatingCredentials, type CredentialsSource } from './redis-credentials.js';

function stage(source: CredentialsSource) {
  const clock = new ManualClock();
  const reports: string[] = [];
  const credentials = new RotatingCredentials(source, { clock, report: (line) => reports.push(line) });
  return { clock, reports, credentials };
}

/** A connection as ioredis shows it, that notes how it authenticates. */
function connection(status = 'wait') {
  const sent: unknown[][] = [];
  const auth = (...args: unknown[]) => Promise.resolve(sent.push(args));
  const redis = Object.assign(new EventEmitter(), { status, mode: 'normal', options: {}, auth, disconnect: () => {} });
  return { redis: redis as unknown as Redis, sent, as: redis };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('credentials that change', () => {
  it('are asked for once for connections that begin together, and again for the next', async () => {
    let asked = 0;
    const { credentials } = stage(() => ({ username: 'app', password: `p${(asked += 1)}` }));
    const [a, b, c] = [connection(), connection(), connection()];
    await Promise.all([a, b].map(({ redis }) => credentials.connect(redis, async () => {})));
    await credentials.connect(c.redis, async () => {});
    expect([a, b, c].map(({ as }) => as.options)).toEqual(
      ['p1', 'p1', 'p2'].map((password) => ({ username: 'app', password })),
    );
  });

  it('are sent again on open connections before they expire', async () => {
    let asked = 0;
    const clock = new ManualClock();
    const source = () => ({ password: `p${(asked += 1)}`, expiresAt: new Date(clock.now() + 60_000) });
    const credentials = new RotatingCredentials(source, { clock, report: () => {} });
    const { redis, sent, as } = connection();
    await credentials.connect(redis, async () => void (as.status = 'ready'));
    await clock.advance(45_000);
    await settled();
    expect(sent).toEqual([['default', 'p2']]);
    await clock.advance(45_000);
    await settled();
    expect(sent).toHaveLength(2);
    as.emit('end');
    await clock.advance(45_000);
    await settled();
    expect(asked).toBe(3);
  });

  it('stay those of the last answer while the function fails, and the failure is reported', async () => {
    let fails = false;
    const { credentials, reports } = stage(() => {
      if (fails) throw new Error('no token');
      return { password: 'p1' };
    });
    await credentials.current();
    fails = true;
    expect(await credentials.current()).toEqual({ password: 'p1' });
    expect(reports).toEqual(['The function in "credentials" failed: no token.']);
  });

  it('are asked for again by a connection that did not get any', async () => {
    let asked = 0;
    const { credentials } = stage(() => {
      if ((asked += 1) === 1) throw new Error('no token');
      return { password: 'p2' };
    });
    const { redis, as } = connection();
    await expect(credentials.connect(redis, async () => {})).rejects.toThrow('no token');
    await credentials.connect(redis, async () => {});
    expect(as.options).toEqual({ username: 'default', password: 'p2' });
  });

  it.each([undefined, 'p', { password: 7 }, { username: 1, password: 'p' }, { password: 'p', expiresAt: 5 }])(
    'are refused when they are %j',
    async (given) => {
      const { credentials } = stage(() => given as never);
      await expect(credentials.current()).rejects.toThrow('Expected the function in "credentials" to return');
    },
  );

  it('open no connection that was closed while they were awaited', async () => {
    const { credentials } = stage(() => ({ password: 'p' }));
    const { redis } = connection('reconnecting');
    let opened = 0;
    const connecting = credentials.connect(redis, async () => void (opened += 1));
    credentials.abandon(redis);
    await expect(connecting).rejects.toThrow('Connection is closed');
    expect(opened).toBe(0);
  });
});
