import { run } from '../../apps/cli/src/run.js';
import type { World } from '../../apps/cli/src/world.js';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The last line of stdout, read. */
  readonly json: unknown;
}

/** What `fencepost` says to a command line, without a process of its own. */
export async function fencepost(args: readonly string[], around: Partial<World> = {}): Promise<Said> {
  let [out, err] = ['', ''];
  const code = await run(args, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    env: {},
    now: Date.now,
    width: 100,
    user: () => 'otto',
    read: () => Promise.reject(new Error('Expected no file to be read.')),
    interrupted: () => new AbortController().signal,
    ...around,
  });
  const last = out.trimEnd().split('\n').at(-1) ?? '';
  return { code, out, err, json: args.includes('--json') && last !== '' ? JSON.parse(last) : undefined };
}
