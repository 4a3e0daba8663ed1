import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forwardSignals } from '../../scripts/child.mjs';
import { Clone } from './clone.js';

const DEMO = 'apps/demo/dist/main.js';

let clone: Clone;
beforeEach(() => {
  clone = new Clone();
  clone.compiler('tsc', 'mkdir -p apps/demo/dist && cp apps/demo/src/main.ts apps/demo/dist/main.js');
});
afterEach(() => clone.discard());

function start(demo: string, ...args: string[]) {
  clone.write('apps/demo/src/main.ts', demo);
  return clone.start(['scripts/start.mjs', ...args], { REDIS_URL: 'redis://127.0.0.1:4711' });
}

describe('npm start', () => {
  it('runs the demo with all arguments, the Redis and how it was found, and ends with its exit code', async () => {
    const told = 'console.log(process.argv.slice(2).join(), process.env.REDIS_URL, process.env.FENCEPOST_REDIS_HOW);';
    const { code, out } = await start(`${told} process.exit(7);`, '--pods', '5').ended;
    expect({ code, out }).toEqual({ code: 7, out: '--pods,5 redis://127.0.0.1:4711 REDIS_URL\n' });
  });

  it('leaves stdout to the demo, so that its JSON can be read', async () => {
    const { out, err } = await start('console.log(JSON.stringify({ fired: 1 }));', '--json').ended;
    expect(JSON.parse(out)).toEqual({ fired: 1 });
    expect(err).toContain('Building');
  });

  it('asks nobody for a Redis when only help is wanted', async () => {
    const { out } = await start('console.log(process.env.FENCEPOST_REDIS_HOW);', '--help').ended;
    expect(out).toBe('undefined\n');
  });

  it('passes a key press on once, though npm repeats what the terminal has sent, and the next press again', () => {
    const got: string[] = [];
    const source = new EventEmitter();
    let now = 0;
    forwardSignals({ kill: (signal) => got.push(signal) }, { source, now: () => now });
    for (const at of [0, 3, 2_000]) {
      now = at;
      source.emit('SIGINT');
    }
    source.emit('SIGTERM');
    expect(got).toEqual(['SIGINT', 'SIGINT', 'SIGTERM']);
  });

  it('hears no signal any more once the demo is gone', () => {
    const source = new EventEmitter();
    forwardSignals({ kill: () => expect.unreachable() }, { source })();
    expect(source.eventNames()).toEqual([]);
  });

  it('lets the demo end itself after Ctrl-C', async () => {
    const polite = `
      process.on('SIGINT', () => (console.log('goodbye'), process.exit(5)));
      setInterval(() => {}, 1 << 30);
      console.log('ready');`;
    const started = start(polite);
    await once(started.process.stdout!, 'data');
    started.process.kill('SIGINT');
    expect(await started.ended).toMatchObject({ code: 5, out: 'ready\ngoodbye\n' });
  });

  it('ends what the demo leaves behind', async () => {
    // The pod holds our end of stdout open, so that this only ends when the pod has ended.
    const leaving = `
      const { spawn } = await import('node:child_process');
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1 << 30)'], { stdio: ['ignore', 'inherit', 'ignore'] });
      process.exit(3);`;
    clone.write('package.json', JSON.stringify({ type: 'module', dependencies: { left: '^1.0.0' } }));
    expect((await start(leaving).ended).code).toBe(3);
  });

  it('says what failed, and does not start a demo that was not built', async () => {
    clone.compiler('tsc', 'exit 1');
    const { code, err } = await start('').ended;
    expect(code).toBe(1);
    expect(err).toContain('The build failed');
    expect(clone.has(DEMO)).toBe(false);
  });
});
