import type { Happening } from './happening.js';

const REMEMBERED = 30;

/** The last things that happened, without single runs, each once in its latest wording; the newest last. */
export class Story {
  #told: readonly Happening[] = [];

  add(happening: Happening): void {
    if (happening.kind === 'run') return;
    const others = this.#told.filter(({ id }) => id !== happening.id);
    this.#told = [...others, happening].slice(-REMEMBERED);
  }

  get newest(): readonly Happening[] {
    return this.#told;
  }
}
