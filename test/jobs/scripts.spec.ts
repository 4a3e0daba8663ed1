import { describe, expect, it, type TestContext } from 'vitest';
import { startPlainApp, type PlainApp } from '../truth/plain-app.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

type Finishing = Pick<TestContext, 'onTestFinished' | 'onTestFailed'>;

function start(env: Readonly<Record<string, string>>, { onTestFinished, onTestFailed }: Finishing): PlainApp {
  const program = startPlainApp({ PREFIX: spaces.fresh().prefix, ...env }, 'script');
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await program.ended;
  });
  onTestFailed(() => console.error(program.said()));
  return program;
}

const SUSPECTED = 'script_suspected';

describe('a script that imports the roles of an application', () => {
  it.concurrent.for([
    ['by closing the application', 'closed-by-itself'],
    ['by process.exit', 'exited'],
  ])('is warned once when it ends %s', async ([ENDS = '', reason], context) => {
    const script = start({ ENDS }, context);
    expect(await script.ended).toEqual({ code: 0, signal: null });
    const lines = script.said().split('\n');
    const warnings = lines.filter((line) => line.includes(SUSPECTED));
    expect(warnings).toEqual([expect.stringContaining(`roles scheduler+worker, reason ${reason}, upMs `)]);
    expect(warnings.join()).toMatch(/WARN.*FENCEPOST_ROLES=none or enabled: false/);
  });

  it.concurrent.for<[why: string, env: Readonly<Record<string, string>>]>([
    ['FENCEPOST_ROLES=none', { FENCEPOST_ROLES: 'none' }],
    ['enabled: false', { OFF: 'yes' }],
  ])('is told at boot that it has no role by %s, and then nothing', async ([by, env], context) => {
    const script = start({ ENDS: 'by closing the application', ...env }, context);
    expect(await script.ended).toEqual({ code: 0, signal: null });
    const ours = script
      .said()
      .split('\n')
      // The Redis of the tests may warn of its own settings.
      .filter((line) => line.includes('[Fencepost]') && !line.includes('store_warning'));
    expect(ours).toEqual([expect.stringMatching(`LOG.*this process has no role.*by ${by.replace('=', '.')}`)]);
  });
});

const BY_HANDLER = { code: 0, signal: null };
const BY_SIGNAL = { code: null, signal: 'SIGTERM' };

describe('a service without a server', () => {
  it.concurrent.for([
    ['in a handler of its own', BY_HANDLER],
    ['in an earlier handler of its own that exits', BY_HANDLER],
    ['by nothing but the signal', BY_SIGNAL],
  ] as const)('is not taken for a script when SIGTERM ends it %s', async ([ENDS, end], context) => {
    const service = start({ ENDS }, context);
    await service.says('all is set up');
    service.kill('SIGTERM');
    expect(await service.ended).toEqual(end);
    expect(service.said()).not.toContain(SUSPECTED);
  });

  it.concurrent.for(['with an error', 'by process.exit with an error'])(
    'is not taken for a script when it ends %s',
    async (ENDS, context) => {
      const service = start({ ENDS }, context);
      expect(await service.ended).toEqual({ code: 3, signal: null });
      expect(service.said()).not.toContain(SUSPECTED);
    },
  );

  it.concurrent('is not taken for a script when the environment names its roles', async (context) => {
    const service = start({ ENDS: 'by closing the application', FENCEPOST_ROLES: 'scheduler,worker' }, context);
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(service.said()).toContain('this pod has started');
    expect(service.said()).not.toContain(SUSPECTED);
  });
});

describe('a server that closes by itself', () => {
  it.concurrent.for(['by closing the application', 'by process.exit'])(
    'is not taken for a script (%s)',
    async (ENDS, context) => {
      const server = start({ ENDS, SERVES: 'yes' }, context);
      expect(await server.ended).toEqual({ code: 0, signal: null });
      expect(server.said()).toContain('this pod has started');
      expect(server.said()).not.toContain(SUSPECTED);
    },
  );
});
