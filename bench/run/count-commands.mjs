import { createRequire } from 'node:module';

const ofJobs = createRequire(new URL('../../libs/jobs/package.json', import.meta.url));
const { Redis } = ofJobs('ioredis');

/**
 * Counts what this process sends from now on; each command is a round trip at the most.
 * @returns {{ ofAll: () => number, of: (client: object) => number }}
 */
export function countCommands() {
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
