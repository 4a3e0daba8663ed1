import { RedisCatalog } from '@fencepost/ledger/redis';
import { Member } from '../tick/crew.mjs';

const PROGRAM = new URL('./pod.mjs', import.meta.url);
const PATIENCE_MS = 240_000;
const LOOK_MS = 20;
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Once a day, at 1,440 different minutes, as crons are. */
export function daily(n) {
  return cronOf(n, `${n % 60} ${Math.floor(n / 60) % 24} * * *`);
}

export function cronOf(n, expression, name = `cron-${n}`) {
  return {
    ...{ name, expression, timeZone: 'UTC' },
    ...{ misfire: 'fire-once', overlap: 'allow', graceMs: 60_000, catchUpWindowMs: null },
  };
}

/** Crons in a catalog, without a worker: nothing but the scheduler pods is measured. */
export async function declare({ redis, prefix }, definitions) {
  const catalog = new RedisCatalog({ redis, prefix, tenant: 'default' });
  const declarations = definitions.map((definition) => ({ definition, disabled: false }));
  await catalog.declare(declarations, { revision: 1, app: 'bench' });
  return catalog;
}

/** Pods in processes of their own; `inEach` of them share one. */
class Crew {
  members = [];

  static async start({ redis, prefix }, { processes, inEach = 1 }) {
    const crew = new Crew();
    const about = { redis, prefix, pods: inEach };
    const starting = Array.from({ length: processes }, (_, n) => Member.start(PROGRAM, { ...about, pod: `pod-${n}` }));
    crew.members = await Promise.all(starting);
    return crew;
  }

  async ask(say, order) {
    return (await Promise.all(this.members.map((member) => member.ask(say, order)))).map(({ told }) => told);
  }

  /** @returns how long it took until these pods held so many crons, milliseconds */
  async untilHeld(count) {
    const since = performance.now();
    while (sum(await this.ask('held')) < count) {
      if (performance.now() - since > PATIENCE_MS) throw new Error(`Expected ${count} crons to be held in time.`);
      await sleep(LOOK_MS);
    }
    return performance.now() - since;
  }

  /** SIGKILL. @returns how many crons the pod held */
  async kill(n) {
    const [member] = this.members.splice(n, 1);
    const { told } = await member.ask('held');
    await member.end();
    return told;
  }

  async end() {
    await Promise.all(this.members.map((member) => member.end()));
  }
}

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/** Boots pods, and says how long it took from the first process until all crons are held. */
export async function boot(space, count, form) {
  const since = performance.now();
  const crew = await Crew.start(space, form);
  try {
    await crew.untilHeld(count);
    return { crew, bootS: (performance.now() - since) / 1_000 };
  } catch (error) {
    await crew.end();
    throw error;
  }
}
