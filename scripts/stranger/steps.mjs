/** @typedef {{ example: number, own: number }} Lines copied from the pages, and written by the person */

const NONE = { example: 0, own: 0 };

/** What was done one after the other, with the seconds and the lines of each. */
export class Steps {
  /** @type {{ name: string, seconds: number, lines: Lines }[]} */
  taken = [];
  #print;

  /** @param {(line: string) => void} print */
  constructor(print) {
    this.#print = print;
  }

  /**
   * @template T
   * @param {string} name
   * @param {() => T | Promise<T>} work
   * @param {(result: T) => Lines} [linesOf]
   * @returns {Promise<T>}
   */
  async take(name, work, linesOf = () => NONE) {
    const since = performance.now();
    const result = await work();
    const seconds = tenths((performance.now() - since) / 1_000);
    const lines = linesOf(result);
    this.taken.push({ name, seconds, lines });
    this.#print(
      `${name.padEnd(8)} ${seconds.toFixed(1).padStart(6)} s  ${lines.example} lines copied, ${lines.own} written`,
    );
    return result;
  }

  /** @returns {{ seconds: number, lines: Lines }} */
  total() {
    const sum = (of) => this.taken.reduce((so, step) => so + of(step), 0);
    const lines = { example: sum((step) => step.lines.example), own: sum((step) => step.lines.own) };
    return { seconds: tenths(sum((step) => step.seconds)), lines };
  }
}

function tenths(value) {
  return Math.round(value * 10) / 10;
}
