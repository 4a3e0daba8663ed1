import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkModules } from '../support/link-modules.mjs';

/**
 * @typedef {'G1' | 'G2' | 'G3' | 'G4' | 'G5' | 'G6' | 'G7' | 'G8' | 'G9' | 'G10' | 'G11' | 'G12' | 'G13' | 'G14' | 'G15' | 'G16' | 'G17' | 'G18' | 'G19'} Promised
 * @typedef {'N1' | 'N2' | 'N3' | 'N4' | 'N5' | 'N6' | 'N7' | 'N8' | 'N9'} NotPromised
 * @typedef {Promised | NotPromised | 'security'} Guarded
 */

/**
 * One defence taken out.
 * @typedef {object} Mutant
 * @property {string} name what is broken
 * @property {Guarded} guards the numbered guarantee of docs/guarantees.md that the defence serves, or `security`
 * @property {string} defence what the text that is replaced defends against
 * @property {string} file path from the repository's root
 * @property {string} find stands in the file exactly once
 * @property {string} replace
 * @property {string} killedBy the spec that has to turn red, as a path from the root
 * @property {string} [test] only tests whose full name contains this; all of the spec by default
 */

/**
 * @typedef {object} Verdict
 * @property {boolean} killed
 * @property {string} [by] the full name of the first test that turned red
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NOT_COPIED = new Set(['node_modules', 'dist', 'bundle', 'coverage', '.git', '.cache', 'mutants']);
const BENCH = fileURLToPath(new URL('bench.mjs', import.meta.url));
const MAX_RUN_MS = 150_000;

/**
 * Copies of the sources in a temporary folder, where defences are taken out one at a time while the specs that should
 * notice are run. The repository itself is only read.
 */
export class MutationLab {
  #folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'fencepost-mutants-')));
  #benches;
  #free;
  /** @type {((bench: Bench) => void)[]} */
  #waiting = [];
  /** @type {Map<string, Promise<void>>} */
  #green = new Map();

  /** @param {number} [benches] how many mutants are tried at once */
  constructor(benches = 2) {
    this.#benches = Array.from({ length: benches }, (_, n) => new Bench(join(this.#folder, `${n}`)));
    this.#free = [...this.#benches];
  }

  /**
   * @param {Mutant} mutant
   * @param {{ isGreen?: boolean }} [known] whether its spec is known to be green without it
   * @returns {Promise<Verdict>}
   * @throws when the mutant doesn't fit the source, when its spec is red without it, or when no test ran
   */
  async tryOut(mutant, { isGreen = false } = {}) {
    const bench = await this.#take();
    try {
      if (!isGreen) await this.#expectGreen(bench, mutant.killedBy);
      return await bench.tryOut(mutant);
    } finally {
      this.#giveBack(bench);
    }
  }

  async close() {
    await Promise.all(this.#benches.map((bench) => bench.stop()));
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Once per spec: a spec that is red anyway would count as having killed everything. */
  #expectGreen(bench, spec) {
    const known = this.#green.get(spec) ?? bench.expectGreen(spec);
    this.#green.set(spec, known);
    return known;
  }

  /** @returns {Promise<Bench>} */
  #take() {
    const bench = this.#free.pop();
    return bench ? Promise.resolve(bench) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  #giveBack(bench) {
    const next = this.#waiting.shift();
    if (next) next(bench);
    else this.#free.push(bench);
  }
}

/** One copy of the tree and the process that runs specs in it, for one mutant at a time. */
class Bench {
  #folder;
  #env;
  #process;
  #ready;
  /** Files with another text than in the last run: what the runner remembers of them is wrong. */
  #changed = [];

  /** @param {string} folder */
  constructor(folder) {
    this.#folder = folder;
    const copied = (path) => !NOT_COPIED.has(path.slice(ROOT.length).split('/').at(-1) ?? '');
    fs.cpSync(ROOT, folder, { recursive: true, filter: copied });
    linkModules(folder);
    // A test runner inside of a test runner must not take itself for a worker of the outer one.
    const kept = Object.entries(process.env).filter(([key]) => !/^(VITEST|TEST$|NODE_OPTIONS$)/.test(key));
    // A verdict must not depend on the histories that a property happens to draw this time.
    this.#env = { FC_SEED: '1', TEST_LENGTH: 'long', ...Object.fromEntries(kept) };
    this.#start();
  }

  #start() {
    const [cwd, env] = [this.#folder, this.#env];
    this.#process = fork(BENCH, { cwd, env, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#ready = this.#answer();
  }

  /** @param {string} spec */
  async expectGreen(spec) {
    const { passed, failed, said } = await this.#run({ spec });
    if (passed > 0 && failed.length === 0 && said === '') return;
    throw new Error(`Expected ${spec} to be green before anything is mutated, but: ${failed[0] ?? said}`);
  }

  /**
   * @param {Mutant} mutant
   * @returns {Promise<Verdict>}
   */
  async tryOut({ name, file, find, replace, killedBy, test }) {
    const path = join(this.#folder, file);
    const text = fs.readFileSync(path, 'utf8');
    const times = text.split(find).length - 1;
    if (times !== 1) throw new Error(`Mutant "${name}": expected its text once in ${file}, found it ${times} times.`);
    fs.writeFileSync(
      path,
      text.replace(find, () => replace),
    );
    this.#changed.push(path);
    try {
      const pattern = test?.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
      const { passed, failed, said } = await this.#run({ spec: killedBy, test: pattern });
      if (failed.length > 0) return { killed: true, by: failed[0] };
      if (passed > 0 && said === '') return { killed: false };
      throw new Error(`Mutant "${name}": no test of ${killedBy} ran${test ? ` for "${test}"` : ''}. ${said}`);
    } finally {
      fs.writeFileSync(path, text);
      this.#changed.push(path);
    }
  }

  async stop() {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }

  /** @returns {Promise<{ passed: number, failed: string[], said: string }>} */
  async #run(request) {
    if (this.#process.killed || this.#process.exitCode !== null) this.#start();
    await this.#ready;
    const answer = this.#answer();
    this.#process.send({ ...request, changed: this.#changed.splice(0) });
    return answer;
  }

  /** The next message, or an error when the process ends or takes too long. */
  async #answer() {
    const tooLate = new AbortController();
    const timer = setTimeout(() => tooLate.abort(), MAX_RUN_MS);
    const gone = () => tooLate.abort();
    this.#process.once('exit', gone);
    try {
      return (await once(this.#process, 'message', { signal: tooLate.signal }))[0];
    } catch {
      // What it says later would be taken for the answer to the next question.
      this.#process.kill('SIGKILL');
      throw new Error(`Expected an answer of the bench within ${MAX_RUN_MS} ms; it hangs, or has ended.`);
    } finally {
      clearTimeout(timer);
      this.#process.removeListener('exit', gone);
    }
  }
}
