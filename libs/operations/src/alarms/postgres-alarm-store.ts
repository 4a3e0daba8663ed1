import { PostgresLedgerAccess, sqlJson, type PostgresLedgerOptions } from '@fencepost/ledger/postgres';
import type { AlarmStore, AlarmReading, Swap } from './alarm-store.js';

/** The alarms of a tenant in a table beside the ledger. */
export class PostgresAlarmStore implements AlarmStore {
  readonly #access: PostgresLedgerAccess;

  constructor(options: Pick<PostgresLedgerOptions, 'pool' | 'schema' | 'prefix' | 'tenant'>) {
    this.#access = new PostgresLedgerAccess(options);
  }

  read(crons: readonly string[]): Promise<AlarmReading> {
    return this.#call('read_alarms', crons);
  }

  async swap(swaps: readonly Swap[]): Promise<boolean[]> {
    return swaps.length === 0 ? [] : this.#call('swap_alarms', sqlJson(swaps));
  }

  names(): Promise<string[]> {
    return this.#call('list_alarmed');
  }

  #call<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    return this.#access.call<T>(name, [this.#access.space, ...args]);
  }
}
