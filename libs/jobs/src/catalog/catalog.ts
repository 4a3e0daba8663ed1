import type { StopWatching } from '@fencepost/lease';
import type { CatalogEntry, Declaration } from './definition.js';

export interface DeclareReply {
  /** New or redefined by this call. */
  readonly changed: readonly string[];
  /** Defined by a newer build: this process executes them and defines nothing. */
  readonly older: readonly string[];
}

/**
 * Which crons there are. Worker processes declare, scheduler pods read.
 *
 * Every implementation passes `test/contracts/catalog.contract.ts`.
 */
export interface Catalog {
  /**
   * Declares all crons of a build in one step. A higher `buildSeq` redefines, an equal one with the same content changes
   * nothing, a lower one defines nothing.
   * @throws {DefinitionConflictError} when an equal `buildSeq` declares another content; nothing is changed
   */
  declare(declarations: readonly Declaration[], buildSeq: number): Promise<DeclareReply>;
  /** All crons that should fire. */
  read(): Promise<CatalogEntry[]>;
  /**
   * Begins a generation above `accepted`, unless the cron has one that is not below it.
   *
   * A ledger that has accepted a generation the catalog never issued means that the catalog was lost and counts anew. Every
   * claim under the new count would be refused, for ever.
   */
  outgrow(cron: string, accepted: number): Promise<void>;
  /** Calls `onChanged` after a declaration changed something, from any process. A hint that may get lost. */
  watch(onChanged: () => void): Promise<StopWatching>;
}
