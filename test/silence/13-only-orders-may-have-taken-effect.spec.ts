import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Telemetry } from '@fencepost/jobs';
import { reportQueueFailure } from '@fencepost/jobs/internal';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { recordedEvents } from '../support/recorded.js';
import { ensureBuilt } from '../../scripts/build.mjs';
import { redisSpaces } from '../jobs/redis-space.js';
import { declared, FencepostDeployment } from '../support/fencepost.js';
import { privateRedis, testRedis, type PrivateRedis } from '../support/redis.js';
import { withStore } from '../../apps/cli/src/store/store.js';
import { Audited } from '../../apps/cli/src/deployment/audited.js';
import type { World } from '../../apps/cli/src/world.js';

const FENCEPOST = join(import.meta.dirname, '../../apps/cli/dist/main.js');
const world = { env: {}, err: () => {}, user: () => 'anna' } as unknown as World;

let server: PrivateRedis | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});

async function sentenceOf(isOrder: boolean): Promise<string> {
  server = await privateRedis();
  const { url } = server;
  const cut = withStore({ redis: url }, world, async (store) => {
    await server?.stop();
    const read = () => store.catalog.read();
    const about = { action: 'pause', cron: 'nightly', reason: null };
    return isOrder ? new Audited(store.audit, world, undefined).order(about, read) : read();
  });
  return cut.then(String, (error: Error) => error.message);
}

describe('a store that stops answering', () => {
  it('may have carried out an order', async () => {
    expect(await sentenceOf(true)).toMatch(/stopped answering .*The order may have taken effect/);
  });

  it('was only read by a read', async () => {
    expect(await sentenceOf(false)).toMatch(/stopped answering .*\. Check that the server is reachable/);
    expect(await sentenceOf(false)).not.toMatch(/taken effect/);
  });
});

describe('fencepost export | head -1', () => {
  const spaces = redisSpaces(testRedis);
  beforeAll(() => ensureBuilt(), 300_000);

  it('prints a line, and nothing about an outage', async () => {
    const text = 'x'.repeat(400);
    const crons = Array.from({ length: 600 }, (_, n) => declared(`cron-${n}`, '0 3 * * *', { description: text }));
    const there = await FencepostDeployment.of({ redis: spaces.redis(), ...spaces.fresh(), tenant: 'default' }, crons);
    const line = `"${process.execPath}" "${FENCEPOST}" export | head -1; echo "ended with \${PIPESTATUS[0]}" >&2`;
    const env = { ...process.env, ...there.env };
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', line], { env });
    expect(stdout).toMatch(/^{"name":"cron-\d+".*}\n$/);
    expect(stderr).toBe('ended with 0\n');
  });
});

describe('an error of the queue', () => {
  function told(error: unknown): string[] {
    const telemetry = new Telemetry();
    const events = recordedEvents(telemetry);
    reportQueueFailure(telemetry, { operation: 'queue.reroute' }, error);
    return (['queue.failed', 'program.failed'] as const).filter((name) => events.of(name).length > 0);
  }

  it.each([
    Object.assign(new Error('Lock mismatch for job 7. Cmd moveToFinished from active'), { code: -6 }),
    new Error('could not renew lock for job 7'),
    new Error('Job 7 could not be removed because it is locked by another worker'),
    new Error('a sentence of a later release'),
  ])('is not called a bug of ours: %s', (error) => expect(told(error)).toEqual(['queue.failed']));

  it.each([new TypeError('x is not a function'), Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' })])(
    'is a bug for %s',
    (error) => expect(told(error)).toEqual(['program.failed']),
  );
});
