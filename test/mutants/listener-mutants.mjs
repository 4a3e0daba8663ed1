const CONTROLLER = 'apps/scheduler/src/api/events.controller.ts';
const STREAM = 'apps/scheduler/src/api/event-stream.ts';
const killedBy = 'test/api/event-listeners.spec.ts';

/**
 * What keeps those that listen to the events from costing a pod more than it has.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const LISTENER_MUTANTS = [
  {
    name: 'listeners: a stream is silent while nothing happens',
    defence: 'a proxy that closes what is silent finds a heartbeat',
    file: STREAM,
    find: 'this.#cancel = this.clock.after(HEARTBEAT_MS, () => this.#beat());',
    replace: '',
    killedBy,
    test: 'has a heartbeat',
  },
  {
    name: 'listeners: a heartbeat outlives its listener',
    defence: 'who leaves leaves no timer behind',
    file: STREAM,
    find: 'this.#cancel();\n    this.response.end();',
    replace: 'this.response.end();',
    killedBy,
    test: 'leaves no heartbeat behind',
  },
  {
    name: 'listeners: who reads nothing is written to for ever',
    defence: 'a slow reader costs a bounded piece of memory',
    file: STREAM,
    find: 'if (this.response.writableLength > MOST_UNREAD) this.response.destroy();\n    else this',
    replace: 'this',
    killedBy,
    test: 'is cut off before it costs more',
  },
  {
    name: 'listeners: there may be any number of them',
    defence: 'a pod has so many listeners and no more',
    file: CONTROLLER,
    find: 'if (this.#streams.size >= MOST_LISTENERS) {',
    replace: 'if (this.#streams.size >= Infinity) {',
    killedBy,
    test: 'is told so in one sentence',
  },
  {
    name: 'listeners: the place of one that left stays taken',
    defence: 'who leaves makes room',
    file: CONTROLLER,
    find: 'this.#streams.delete(stream);',
    replace: '',
    killedBy,
    test: 'finds room when one leaves that has read',
  },
  {
    name: 'listeners: one that sent a body never leaves',
    defence: 'nobody takes all places for good by asking in an odd way',
    file: CONTROLLER,
    find: "response.once('close', () => {",
    replace: "response.req.once('close', () => {",
    killedBy,
    test: 'finds room when one leaves that sent a body',
  },
  {
    name: 'listeners: one that left before it came takes a place',
    defence: 'who is gone when the door opens takes no place',
    file: CONTROLLER,
    find: 'if (response.destroyed) return;',
    replace: '',
    killedBy,
    test: 'finds room when all have left before',
  },
  {
    name: 'listeners: who asks for the headers alone keeps a place',
    defence: 'nobody keeps a place without hearing anything',
    file: 'apps/scheduler/src/api/events.controller.ts',
    find: "if (response.req.method === 'HEAD') return void response.end();",
    replace: '',
    killedBy: 'test/api/event-listeners.spec.ts',
    test: 'gives no place to who asks for the headers alone',
  },
];
