const RUNNING = 'libs/jobs/src/running/';
const FOR_EACH = `${RUNNING}for-each.ts`;
const ITEM = `${RUNNING}item-call.ts`;
const LIST = `${RUNNING}todo-list.ts`;
const EACH = `${RUNNING}for-each.spec.ts`;
const EACH_UNKNOWN = `${RUNNING}for-each-unknown.spec.ts`;

/**
 * Many items: each is done once, and what was not done is known.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const FOR_EACH_MUTANTS = [
  {
    name: 'for each: done items are carried out again',
    defence: 'a retry continues where it stopped',
    file: LIST,
    find: "    if (record?.state === 'done') return null;\n",
    replace: '',
    killedBy: EACH,
    test: 'is continued by the next attempt where it stopped',
  },
  {
    name: 'for each: an item that is to be asked about is repeated',
    defence: 'an item that is asked about is never repeated by itself',
    file: LIST,
    find: "if (lost === null || this.settings.ifUnknown !== 'ask') return",
    replace: 'if (true) return',
    killedBy: EACH_UNKNOWN,
    test: 'is asked about under "ask" when the others are done',
  },
  {
    name: 'for each: two items have one key',
    defence: 'a key is the identity of one item',
    file: LIST,
    find: '    if (this.#seen.has(key)) throw',
    replace: '    if (false) throw',
    killedBy: EACH,
    test: 'one that comes twice',
  },
  {
    name: 'for each: what was begun with its batch and not called is left in doubt',
    defence: "what was not called is nobody's question",
    file: FOR_EACH,
    find: "if (lost === null) this.#finished.push({ key, kind: 'failed', error: 'it was not called' });",
    replace: '',
    killedBy: EACH_UNKNOWN,
    test: 'records what has ended and what was not called',
  },
  {
    name: 'for each: what has ended is not recorded when something stops the rest',
    defence: 'what has happened is recorded, whatever stopped the rest',
    file: FOR_EACH,
    find: '      await this.#advance([]).catch(() => {});\n',
    replace: '',
    killedBy: EACH,
    test: 'records what it has done when its source breaks off',
  },
  {
    name: 'for each: a stale attempt goes on with its next batch',
    defence: 'an attempt stops at the first sign that it is not the current one',
    file: FOR_EACH,
    find: "    if (reply === 'stale') throw this.desk.stale(name);\n",
    replace: '',
    killedBy: EACH_UNKNOWN,
    test: 'because it is stale hears of it with its next batch',
  },
  {
    name: 'for each: a lost item is repeated without a lookup',
    defence: 'the provider is asked before a lost item is repeated',
    file: ITEM,
    find: "if (lost === null || typeof ifUnknown !== 'function') return this.#act();",
    replace: 'if (lost !== undefined) return this.#act();',
    killedBy: EACH_UNKNOWN,
    test: 'by its lookup',
  },
];
