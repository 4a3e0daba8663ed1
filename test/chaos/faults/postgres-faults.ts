import { Client } from 'pg';
import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { between } from '../draw.js';
import type { Fault } from '../fault.js';

export interface PostgresFaultsOptions {
  readonly url: string;
  /** Whether the server is ours alone: then it may be stopped and crashed, and not only its sessions ended. */
  readonly isPrivate: boolean;
  /** Sessions whose `application_name` begins with that are spared: those of the oracle. */
  readonly spared: string;
}

const STORM_MS = { least: 500, most: 2_000 };
const STORM_EVERY_MS = 150;
const FROZEN_MS = { least: 300, most: 3_000 };

type During = (random: () => number, signal: AbortSignal) => Promise<boolean>;

/** What happens to the database of the ledger. */
export function postgresFaults(options: PostgresFaultsOptions): Fault[] {
  const store = (kind: string, strike: During): Fault => ({ kind, target: 'store', strike });
  const storm = store('pg-terminate-backend', async (random, signal) => {
    const deadline = performance.now() + between(STORM_MS, random);
    let ended = 0;
    while (performance.now() < deadline && !signal.aborted) {
      ended += await terminated(options);
      await sleep(systemClock, STORM_EVERY_MS, signal);
    }
    return ended > 0;
  });
  if (!options.isPrivate) return [storm];
  return [
    storm,
    store('postgres-frozen', (random, signal) => frozen(options, between(FROZEN_MS, random), signal)),
    store('postgres-crashed', () => crashed(options)),
  ];
}

async function asked<T>({ url, spared }: PostgresFaultsOptions, ask: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: `${spared} nemesis` });
  client.on('error', () => {});
  try {
    await client.connect();
    return await ask(client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function terminated(options: PostgresFaultsOptions): Promise<number> {
  const text = `select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and application_name not like $1 and pid <> pg_backend_pid()`;
  const ended = await asked(options, (client) => client.query(text, [`${options.spared}%`]));
  return ended.rowCount ?? 0;
}

/** First the process that would start others, then all that it has started: no connection is refused, and none answered. */
async function frozen(options: PostgresFaultsOptions, forMs: number, signal: AbortSignal): Promise<boolean> {
  const stopped: number[] = [];
  const stop = (pid: number) => {
    if (send(pid, 'SIGSTOP')) stopped.push(pid);
  };
  try {
    await asked(options, async (client) => {
      stop(await postmasterOf(client));
      const { rows } = await client.query<{ pid: number }>(
        `select pid from pg_stat_activity where pid <> pg_backend_pid()`,
      );
      for (const { pid } of rows) stop(pid);
    });
    await sleep(systemClock, forMs, signal);
  } finally {
    for (const pid of stopped) send(pid, 'SIGCONT');
  }
  return stopped.length > 1;
}

/** A backend that dies takes all sessions along; the server recovers from its log and goes on. */
async function crashed(options: PostgresFaultsOptions): Promise<boolean> {
  const dead = await asked(options, async (client) => {
    const text = `select pid from pg_stat_activity where backend_type = 'checkpointer'`;
    const { rows } = await client.query<{ pid: number }>(text);
    if (rows[0] === undefined || !send(rows[0].pid, 'SIGKILL')) return false;
    // Until the server has noticed it lets everybody in as before. This session is taken along as well.
    await new Promise<void>((resolve) => void client.once('end', resolve));
    return true;
  });
  await upAgain(options);
  return dead;
}

/** Generous, because only a run that fails waits for so long: on a disk that others use as well it replays for a while. */
const RECOVERY_MS = 90_000;
const LOOK_MS = 100;

async function upAgain(options: PostgresFaultsOptions): Promise<void> {
  const deadline = performance.now() + RECOVERY_MS;
  for (;;) {
    try {
      await asked(options, (client) => client.query('select 1'));
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(systemClock, LOOK_MS);
    }
  }
}

async function postmasterOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ file: string }>(`select pg_read_file('postmaster.pid') as file`);
  return Number(rows[0]?.file.split('\n')[0]);
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
