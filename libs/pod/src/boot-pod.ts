import { NestFactory } from '@nestjs/core';
import type { DynamicModule, INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import { Logger } from 'nestjs-pino';
import { podEnvironment, type PodEnvironment } from './environment.js';
import { probePort, refusal, type Address } from './refusal.js';

export interface Pod {
  /** For the sentence that says why it doesn't start. */
  readonly name: string;
  readonly defaultPort: number;
  readonly module: (environment: PodEnvironment) => DynamicModule | Promise<DynamicModule>;
}

/** On top of the drain deadline, for everything else that has to be closed. */
export const CLOSING_MS = 5_000;

/** Starts a pod, or prints one sentence and exits with 1. SIGTERM and SIGINT stop it in order, within a deadline. */
export async function bootPod(pod: Pod): Promise<void> {
  const address: { host: string; port: number } = { host: '127.0.0.1', port: pod.defaultPort };
  let app: NestExpressApplication | undefined;
  try {
    const environment = podEnvironment(process.env);
    Object.assign(address, { host: environment.host, port: environment.port ?? pod.defaultPort });
    await probePort(address);
    app = await NestFactory.create<NestExpressApplication>(await pod.module(environment), {
      // Nest would print a stack trace of its own before ours gets to say what is wrong.
      logger: false,
      abortOnError: false,
      forceCloseConnections: true,
      // The console reads bodies behind its access check; no other route of a pod takes one.
      bodyParser: false,
    });
    app.useLogger(app.get(Logger));
    app.enableShutdownHooks();
    app.disable('x-powered-by');
    endInTime(pod, app.get<JobsSettings>(JOBS_SETTINGS).drainDeadlineMs + CLOSING_MS);
    await app.listen(address.port, address.host);
    app.get(Logger).log(`${pod.name} listens on ${await app.getUrl()}`);
  } catch (error) {
    await refuse(pod, { error, address, app });
  }
}

interface Refused {
  readonly error: unknown;
  readonly address: Address;
  readonly app: INestApplication | undefined;
}

async function refuse(pod: Pick<Pod, 'name'>, { error, address, app }: Refused): Promise<void> {
  process.stderr.write(`The ${pod.name} does not start. ${refusal(error, address)}\n`);
  process.exitCode = 1;
  // Half a start may have left connections and timers; what can't be closed is cut off.
  setTimeout(() => process.exit(1), CLOSING_MS).unref();
  await app?.close().catch(() => {});
  process.exit(1);
}

/** Whatever hangs while stopping, the process is gone before the orchestrator loses patience; leases and fences hold. */
function endInTime(pod: Pick<Pod, 'name'>, deadlineMs: number): void {
  const end = () => {
    process.stderr.write(`${overdue(pod, deadlineMs)}\n`);
    process.exit(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => setTimeout(end, deadlineMs).unref());
  }
}

/** Which shutdown hook never resolved can't be read; what the process still has open says where to look. */
function overdue({ name }: Pick<Pod, 'name'>, deadlineMs: number): string {
  const open = process.getActiveResourcesInfo();
  const counts = [...new Set(open)].map((kind) => `${open.filter((one) => one === kind).length} ${kind}`);
  return (
    `The ${name} did not stop within ${deadlineMs / 1_000} s, the drain deadline and ${CLOSING_MS / 1_000} s for closing, ` +
    `and ends now. A shutdown hook never resolved, or a connection does not close; open: ${counts.join(', ') || 'nothing'}.`
  );
}
