import { createRequire } from 'node:module';

const ofJobs = createRequire(new URL('../../libs/jobs/package.json', import.meta.url));
const { Redis } = ofJobs('ioredis');

/**
 * Counts what this process sends from now on; each command is a round trip at the most.
 * @returns {{ ofAll: () => number, of: (client: object) => number }}
 */
function countCommands() {
  const sent = new Map();
  const send = Redis.prototype.sendCommand;
  Redis.prototype.sendCommand = function sendCommand(...args) {
    sent.set(this, (sent.get(this) ?? 0) + 1);
    return send.apply(this, args);
  };
  return {
    ofAll: () => [...sent.values()].reduce((sum, count) => sum + count, 0),
    of: (client) => sent.get(client) ?? 0,
  };
}

/**
 * Counts handlers. A window goes from the first of its handlers to the last: what it takes to wake the worker up, and to
 * complete the last hundred, would be most of a short one.
 */
export class Tally {
  #commands = countCommands();
  #left = 0;
  #settle = { end: () => {}, fail: () => {} };
  #first = undefined;

  /** Called by each handler. */
  count() {
    this.#first ??= { at: performance.now(), cpu: process.cpuUsage(), sent: this.#commands.ofAll() };
    this.#left -= 1;
    if (this.#left === 0) this.#settle.end();
  }

  /** Called by a handler that won't be counted, and by whoever knows that none will come. */
  fail(error) {
    this.#settle.fail(error);
  }

  /**
   * What `count` handlers cost once `go` lets them come.
   * @throws the first failure: the others may be counted, but what they took would be no figure
   */
  async window(count, go) {
    this.#left = count;
    this.#first = undefined;
    const ended = new Promise((end, fail) => (this.#settle = { end, fail }));
    await Promise.all([ended, go()]);
    const { at, cpu, sent } = this.#first;
    const { user, system } = process.cpuUsage(cpu);
    return { ms: performance.now() - at, cpuUs: user + system, commands: this.#commands.ofAll() - sent };
  }

  /** Commands that one client has sent. */
  sentBy(client) {
    return this.#commands.of(client);
  }
}
