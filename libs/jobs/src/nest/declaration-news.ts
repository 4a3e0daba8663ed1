import type { Build, DeclareReply } from '../catalog/catalog.js';
import type { Telemetry } from '../telemetry/telemetry.js';

/** Tells what came of declaring. It is repeated every few seconds, and only what is new is news. */
export class DeclarationNews {
  readonly #told = new Map<string, string>();

  constructor(
    private readonly telemetry: Telemetry,
    private readonly build: Build,
  ) {}

  /** @param declared how many crons the build has */
  tell({ changed, older, removed }: DeclareReply, declared: number): void {
    const isFirst = this.#told.size === 0;
    if (isFirst || changed.length > 0) {
      this.telemetry.emit('catalog.declared', { declared, changed: changed.length, older: older.length });
    }
    this.#tellCrons('catalog.outdated-build', older);
    this.#tellCrons('catalog.removed', removed);
  }

  #tellCrons(event: 'catalog.outdated-build' | 'catalog.removed', crons: readonly string[]): void {
    const all = crons.toSorted().join();
    const isNews = crons.length > 0 && this.#told.get(event) !== all;
    this.#told.set(event, all);
    if (isNews) this.telemetry.emit(event, { crons, buildSeq: this.build.seq, app: this.build.source });
  }
}
