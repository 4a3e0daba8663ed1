import type { Build, DeclareReply } from '@fencepost/ledger/catalog';
import type { Telemetry } from '../telemetry/telemetry.js';

/** In one event. */
const MAX_NAMED = 20;

/** Tells what came of declaring. It is repeated every few seconds, and only what is new is news. */
export class DeclarationReport {
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
    // What this process has declared before is new to a catalog that was lost.
    if (!isFirst && changed.length > 0) {
      const { seq: buildSeq, source: app } = this.build;
      this.telemetry.emit('catalog.redeclared', { crons: changed.slice(0, MAX_NAMED), buildSeq, app });
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
