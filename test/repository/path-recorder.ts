import { createHook } from 'node:async_hooks';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';

const root = fileURLToPath(new URL('../../', import.meta.url));
const OWN = /\/libs\/[\w/.-]+\/src\/[\w./-]+\.ts/;

/** The packages that decide about an occurrence; telemetry only tells of it. */
const COUNTED = /^libs\/(jobs|ledger)\/src\/(?!telemetry\/)/;

export interface PathRecorder {
  /** Our own functions that were under way when each script was sent the last time, the innermost first. */
  readonly stacks: Readonly<Record<string, readonly string[]>>;
  /** The files of jobs and ledger of which a function was called since this was asked the last time. */
  files(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Watches a connection for Lua scripts, and which of our own code leads to each. */
export async function pathRecorder(redis: Redis): Promise<PathRecorder> {
  const stacks: Record<string, readonly string[]> = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 100;
  // A batch leaves at the end of the turn, with a stack of its own: what asked for it is what had that turn waited for.
  let batched: readonly string[] = [];
  const hook = createHook({
    init: (_id, type) => {
      const own = type === 'Immediate' ? ownFrames() : [];
      if (own.length > 0) batched = own;
    },
  }).enable();
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    const name = scriptName(redis, String(command.args[0]));
    const own = name === undefined ? [] : ownFrames();
    // The client sends a script that the server did not know a second time, from no function of ours.
    if (name !== undefined && own.length > 0) stacks[name] = isBatched(own) ? [...own, ...batched] : own;
    return send(command, stream);
  };
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const stop = async () => {
    hook.disable();
    // Code that is counted runs slower, and other files share this process.
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
    Error.stackTraceLimit = limit;
  };
  return { stacks, files: () => calledFiles(session), stop };
}

/**
 * The functions between the one that decides and the one that hands a command to the client.
 * @throws {Error} where the one that decides is not on the stack: nothing between would look short
 */
export function framesToWire(stack: readonly string[] = [], decides: string): string[] {
  const end = stack.findIndex((frame) => frame.endsWith(decides));
  if (end < 0) throw new Error(`Expected ${decides} on the stack, got ${stack.join(' < ') || 'an empty one'}.`);
  return stack.slice(1, end);
}

function isBatched(own: readonly string[]): boolean {
  return own.some((frame) => frame.includes('#depart'));
}

/** A client has a command for each script that it has sent, named by the script and its hash, as `RedisScript` does. */
function scriptName(redis: Redis, hash: string): string | undefined {
  if (!/^[0-9a-f]{40}$/.test(hash)) return undefined;
  const command = Object.keys(redis).find((key) => key.endsWith(`:${hash}`));
  return command?.split(':').at(-2);
}

/** The functions of our packages that are under way, the innermost first; callers that wait for them are included. */
export function ownFrames(): string[] {
  const lines = (new Error().stack ?? '').split('\n').filter((line) => OWN.test(line) && !line.includes('.spec.ts'));
  return lines.map(
    (line) => /at (?:async )?(?:new )?([\w.#<>]+) /.exec(line)?.[1] ?? line.replace(/^.*\/libs\//, 'libs/'),
  );
}

async function calledFiles(session: Session): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const called = result.filter(({ functions }) =>
    functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
  );
  const files = called.map(({ url }) => url.replace(/^file:\/\//, '').replace(root, ''));
  return files.filter((file) => COUNTED.test(file)).toSorted();
}
