import { randomInt, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@fencepost/lease';
import { redactUrl, type KeySpace } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { CommanderError } from 'commander';
import { listener, viewer, type Audience } from './audience.js';
import { clearKeys } from './clear-keys.js';
import { summary, type Closing } from './closing.js';
import { Demo } from './demo.js';
import { Observer } from './observer.js';
import { parseOptions, type DemoOptions } from './options.js';
import { LEASE_MS } from './pod.js';
import { Stopping } from './stopping.js';
import { openPostgres, type PostgresStage } from './postgres-stage.js';
import { storesOf } from './stores.js';

const COMMAND_TIMEOUT_MS = 2_000;
/** What a shell reports for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

const out = (text: string) => void process.stdout.write(text);
const err = (text: string) => void process.stderr.write(text);
const print = (line: string) => out(`${line}\n`);
const complain = (line: string) => err(`${line}\n`);

// Whoever reads our output may close it, as `head` does; that must not end us half-way.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = optionsOf(args);
  if (typeof options === 'number') return options;
  const stopping = new Stopping(systemClock);
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-demo-'));
  let code = 1;
  try {
    stopping.listen(process.env['FENCEPOST_REDIS_HOW'] !== undefined);
    code = conclude(await demo(options, folder, stopping), options);
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
  }
  stopping.close();
  const empty = readdirSync(folder).length === 0;
  if (code === 0 || empty) rmSync(folder, { recursive: true, force: true });
  else complain(`The logs of the pods are in ${folder}`);
  return code;
}

function conclude(end: Closing | null, { json }: DemoOptions): number {
  if (end === null) {
    complain('Ended before there was anything to judge.');
    return INTERRUPTED;
  }
  for (const line of json ? [JSON.stringify(end)] : summary(end)) print(line);
  return end.ok ? 0 : 1;
}

/** The exit code, where there is nothing to do: the help was asked for, or an option is wrong, and that is printed. */
function optionsOf(args: readonly string[]): DemoOptions | number {
  try {
    return parseOptions(args, { out, err });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
}

async function demo(options: DemoOptions, folder: string, stopping: Stopping): Promise<Closing | null> {
  const url = process.env['REDIS_URL'];
  if (!url) throw new Error('Expected REDIS_URL in the environment. Type "npm start", which finds or starts a Redis.');
  const { kept, ...space } = keySpace(process.env, options);
  const redis = await connectRedis({ url, commandTimeoutMs: COMMAND_TIMEOUT_MS, name: space.prefix });
  let postgres: PostgresStage | null = null;
  try {
    if (options.ledger === 'postgres') postgres = await openPostgres({ url: databaseUrl(process.env), ...space });
    // The tenth demo on one Redis knows nothing of the ninth.
    if (kept) await clearKeys(redis, space);
    const how = whereabouts(url, postgres);
    const seed = options.seed ?? randomInt(1_000_000);
    const audience = audienceFor(options);
    const access = accessText({ url, prefix: space.prefix }, postgres);
    if (audience.frameMs === null) introduce(audience, { how, access, folder, options, seed });
    const observer = new Observer(storesOf({ redis, ...space }, postgres), systemClock);
    const podEnv = { ...podEnvironment({ url, ...space }), ...postgres?.env };
    const common = { options, seed, clock: systemClock, stopping };
    const end = await new Demo({ ...common, observer, audience, redis: how, access, logs: folder, podEnv }).run();
    if (kept) complain(lookUp(url, postgres));
    return end;
  } finally {
    // Pods that did not end in order left theirs too. Without Redis there is nothing to clear.
    if (!kept) await clearKeys(redis, space).catch(() => 0);
    await closeRedis(redis);
    await postgres?.close(kept);
  }
}

function databaseUrl({ DATABASE_URL: url }: NodeJS.ProcessEnv): string {
  if (url) return url;
  throw new Error('Expected DATABASE_URL in the environment. Type "npm start", which finds or starts a PostgreSQL.');
}

/** For the heading. */
function whereabouts(url: string, postgres: PostgresStage | null): string {
  const redis = `${redactUrl(url)} (${process.env['FENCEPOST_REDIS_HOW'] ?? 'REDIS_URL'})`;
  return postgres ? `${redis}, ledger in PostgreSQL at ${redactUrl(databaseUrl(process.env))}` : redis;
}

/** For another terminal. An address with a password is not printed: it came from a variable that is set there as well. */
function accessText({ url, prefix }: { url: string; prefix: string }, postgres: PostgresStage | null): string {
  const variables: (readonly [string, string])[] = [
    ['REDIS_URL', url],
    ['FENCEPOST_PREFIX', prefix],
  ];
  if (postgres) {
    variables.push(['FENCEPOST_LEDGER', 'postgres'], ['DATABASE_URL', databaseUrl(process.env)]);
    variables.push(['FENCEPOST_SCHEMA', postgres.env['FENCEPOST_SCHEMA'] ?? '']);
  }
  const shown = variables.filter(([, value]) => redactUrl(value) === value);
  return `export ${shown.map(([name, value]) => `${name}=${value}`).join(' ')}`;
}

/** An address in the clear is not for a terminal; the variable is where it came from. */
function lookUp(url: string, postgres: PostgresStage | null): string {
  const audit = `npx fencepost audit --redis ${redactUrl(url)} --tenant demo`;
  if (!postgres) return `What happened stays on this Redis: ${audit}`;
  const ledger = `--postgres "$DATABASE_URL" --schema ${postgres.env['FENCEPOST_SCHEMA']}`;
  return `What happened stays on this Redis and in this PostgreSQL: ${audit} ${ledger}`;
}

/**
 * Servers that somebody gave us outlive the demo, and so does what happened on them, for whoever wants to look it up. One
 * of the two alone would be half of it: an audit would miss every instant.
 */
function keySpace(env: NodeJS.ProcessEnv, { ledger }: DemoOptions): KeySpace & { readonly kept: boolean } {
  const redis = env['FENCEPOST_REDIS_HOW'] ?? 'REDIS_URL';
  const postgres = ledger === 'postgres' ? (env['FENCEPOST_POSTGRES_HOW'] ?? 'DATABASE_URL') : null;
  if (redis !== 'REDIS_URL' || (postgres ?? 'DATABASE_URL') !== 'DATABASE_URL')
    return { kept: false, prefix: `demo-${randomUUID().slice(0, 8)}`, tenant: 'demo' };
  return { kept: true, prefix: env['FENCEPOST_PREFIX'] || 'fencepost', tenant: 'demo' };
}

/** A view for a terminal; lines for everything else. With --json, stdout belongs to the last line. */
function audienceFor({ json }: DemoOptions): Audience {
  if (json) return listener(complain);
  return process.stdout.isTTY && process.env['TERM'] !== 'dumb' ? viewer(process.stdout) : listener(print);
}

interface Introduction {
  readonly how: string;
  readonly access: string;
  readonly folder: string;
  readonly options: DemoOptions;
  readonly seed: number;
}

function introduce(audience: Audience, { how, access, folder, options, seed }: Introduction): void {
  const chaos = options.chaos ? [`--chaos --seed ${seed} makes the same choices again`] : [];
  const texts = [`Redis at ${how}`, `${access} && npx fencepost list`, `logs of the pods in ${folder}`, ...chaos];
  for (const text of texts) audience.tell({ id: text, at: systemClock.now(), kind: 'note', text });
}

function podEnvironment({
  url,
  prefix,
  tenant,
}: {
  url: string;
  prefix: string;
  tenant: string;
}): Record<string, string> {
  return {
    REDIS_URL: url,
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    FENCEPOST_PREFIX: prefix,
    FENCEPOST_TENANT: tenant,
    FENCEPOST_LEASE_TTL: `${LEASE_MS.scheduler}ms`,
    FENCEPOST_RUN_LEASE: `${LEASE_MS.worker}ms`,
    FENCEPOST_SWEEP_EVERY: '500ms',
    FENCEPOST_DRAIN_DEADLINE: '5s',
  };
}
