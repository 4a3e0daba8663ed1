import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach } from 'vitest';
import type { FailPoint } from '../pods/fail-point.js';
import { Pod } from './pod.js';

const SCHEDULER = 'apps/scheduler/bundle/main.js';
const WORKER = 'test/dist/bundle/worker.js';
const PLAIN_BULLMQ = 'test/dist/pods/plain-bullmq.js';
const FAIL_POINT = 'test/dist/pods/fail-point.js';

export interface PodOptions {
  readonly failPoint?: FailPoint;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts pods of one kind; the promise is that of a pod whose port is bound. */
export type StartPod = (name: string, options?: PodOptions) => Promise<Pod>;

export interface Pods {
  /** Of every test in the file; more can be given to each. */
  readonly env: Record<string, string>;
  readonly scheduler: StartPod;
  readonly worker: StartPod;
  readonly plainBullmq: StartPod;
  /** Without waiting for anything, for a pod that is not expected to become ready. */
  readonly spawnWorker: (name: string, options?: PodOptions) => Pod;
  readonly spawnScheduler: (name: string, options?: PodOptions) => Pod;
  /** SIGTERM for all that are left; an error names those that did not end in order. */
  readonly terminateAll: () => Promise<void>;
}

/** A pod waits 10 s for its runs by default; the rest is closing connections, beside others that compute. */
const IN_ORDER_WITHIN_MS = 20_000;

/**
 * The pods of a file's tests. A test ends what it started, with `terminateAll` or by other means: a pod that is left after
 * a test that passed fails it.
 */
export function usePods(): Pods {
  const { pods, started } = podsOf();
  afterEach(async ({ task }) => {
    const ended = started.splice(0);
    const left = ended.filter((pod) => pod.isAlive);
    await Promise.all(left.map((pod) => pod.kill()));
    if (task.result?.state === 'fail') return tellLastLines(ended);
    if (left.length > 0) throw new Error(`Left running: ${left.map(({ name }) => name).join(', ')}.`);
  });
  return pods;
}

/** Pods that all tests of a file share; they are ended with it, and one that does not end in order fails it. */
export function usePodsOfFile(): Pods {
  const { pods, started } = podsOf();
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') tellLastLines(started);
  });
  // A pod that does not end is ended with this process.
  afterAll(() => pods.terminateAll());
  return pods;
}

function podsOf(): { readonly pods: Pods; readonly started: Pod[] } {
  const started: Pod[] = [];
  const env: Record<string, string> = {};
  const spawn = (program: string) => (name: string, options?: PodOptions) => {
    const pod = new Pod(podProgram(program, { name, common: env, options: options ?? {} }));
    started.push(pod);
    return pod;
  };
  const start =
    (program: string): StartPod =>
    (name, options) =>
      spawn(program)(name, options).ready();
  const pods = {
    env,
    scheduler: start(SCHEDULER),
    worker: start(WORKER),
    plainBullmq: start(PLAIN_BULLMQ),
    spawnWorker: spawn(WORKER),
    spawnScheduler: spawn(SCHEDULER),
    terminateAll: () => terminateAll(started.filter((pod) => pod.isAlive)),
  };
  return { pods, started };
}

/** A test of several processes that failed can only be understood with what each of them wrote. */
function tellLastLines(pods: readonly Pod[]): void {
  for (const pod of pods) console.error(`${pod.name}:\n${pod.lastLines()}`);
}

async function terminateAll(pods: readonly Pod[]): Promise<void> {
  const exits = await Promise.all(pods.map((pod) => pod.terminate()));
  const disorderly = exits.flatMap(({ code, signal, tookMs }, index) => {
    const inOrder = (signal === 'SIGTERM' || code === 0) && tookMs < IN_ORDER_WITHIN_MS;
    return inOrder ? [] : [`${pods[index]?.name} (${signal ?? code} after ${Math.round(tookMs)} ms)`];
  });
  if (disorderly.length > 0) throw new Error(`Expected every pod to end in order, not so: ${disorderly.join(', ')}.`);
}

interface Given {
  readonly name: string;
  readonly common: Readonly<Record<string, string>>;
  readonly options: PodOptions;
}

function podProgram(program: string, { name, common, options: { failPoint, env } }: Given) {
  const preload = failPoint ? ['--import', new URL(`../../${FAIL_POINT}`, import.meta.url).href] : [];
  const file = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  if (!existsSync(file)) {
    throw new Error(`Expected the program ${program}, found none. Build it with: node scripts/build.mjs --pods.`);
  }
  return {
    name,
    args: [...preload, file],
    env: {
      POD_NAME: name,
      PORT: '0',
      LOG_LEVEL: 'debug',
      ...common,
      ...(failPoint ? { FAIL_POINT: JSON.stringify(failPoint) } : {}),
      ...env,
    },
  };
}
