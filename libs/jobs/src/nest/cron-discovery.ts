import { Inject, Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { CLOCK } from '@fencepost/lease/nest';
import { asError, isStoreError, reportStoreFailure } from '../telemetry/report-failure.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { AwaitedWorkers } from './awaited-workers.js';
import type { CronExplorer, FoundCron } from './cron-explorer.js';
import { onDecorated } from './decorated-methods.js';
import type { JobsSettings } from './options.js';
import { CRON_EXPLORER, JOBS_SETTINGS, WORKER_TOKEN } from './tokens.js';
import { textsOf, UndiscoveredError } from './undiscovered.js';

/** How often to look for providers of lazy modules, while decorated methods are missing. */
export const LOOK_AGAIN_MS = 1_000;

/** How long a module that may still provide a class is waited for: one of another application, or one that is loaded lazily. */
const PATIENCE_MS = 10_000;

type Found = ReadonlyMap<string, FoundCron>;

/** Takes over the crons that a module has brought; all of the process, those that are known too. */
type Adopt = (found: Found) => Promise<void>;

/** Compares the decorated methods of the process with the crons that are found, at boot and afterwards. */
@Injectable()
export class CronDiscovery {
  @Inject(JOBS_SETTINGS) private readonly settings!: Pick<JobsSettings, 'undiscovered'>;
  @Inject(CRON_EXPLORER) private readonly explorer!: CronExplorer;
  @Inject(ModulesContainer) private readonly modules!: ModulesContainer;
  @Inject(AwaitedWorkers) private readonly awaited!: AwaitedWorkers;
  @Inject(WORKER_TOKEN) private readonly token!: object;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;

  #known: Found = new Map();
  /** Of how many candidates it is known what becomes of them, and how many there were when this last looked. */
  #settled = 0;
  #seen = 0;
  #reported = '';
  #isLooking = false;
  #isStopped = false;
  #cancelLook: CancelTimer = () => {};
  #cancelReport: CancelTimer = () => {};
  #stopListening = () => {};

  /** Whether this application provides every decorated method of the process, so that nothing has to be waited for. */
  get isComplete(): boolean {
    return this.explorer.survey().isComplete;
  }

  /** @throws {CronDeclarationError} for the first cron that is invalid */
  explore(): Found {
    this.awaited.boots(this.token);
    this.#known = this.explorer.explore();
    this.#settled = this.#known.size;
    return this.#known;
  }

  /**
   * To be called last in the boot.
   * @throws {UndiscoveredError} for methods that would never run, unless the options say that a warning is enough
   */
  exploreAll(): Found {
    const found = this.explore();
    const missing = this.explorer.undiscovered();
    if (missing.length === 0) return found;
    if (this.#isWarningEnough()) this.#report();
    else if (!this.awaited.isEmpty) this.#reportLater();
    else throw new UndiscoveredError(missing);
    return found;
  }

  /** Calls `adopt` with all crons once a module that is loaded later has brought more. */
  watch(adopt: Adopt): void {
    if (this.#isStopped) return;
    this.#stopListening = onDecorated(() => {
      this.#arm(adopt);
      this.#reportLater();
    });
    if (!this.isComplete) this.#arm(adopt);
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopListening();
    this.#cancelLook();
    this.#cancelReport();
  }

  #arm(adopt: Adopt): void {
    this.#cancelLook();
    if (this.#isStopped) return;
    this.#cancelLook = this.clock.after(LOOK_AGAIN_MS, () => void this.#look(adopt));
  }

  async #look(adopt: Adopt): Promise<void> {
    if (this.#isLooking) return this.#arm(adopt);
    this.#isLooking = true;
    try {
      if (await this.#lookOnce(adopt)) this.#arm(adopt);
    } finally {
      this.#isLooking = false;
    }
  }

  /** @returns whether to look again */
  async #lookOnce(adopt: Adopt): Promise<boolean> {
    const { candidates, isComplete } = this.explorer.survey();
    // Nest adds the providers of a lazy module before it makes their instances: these are made once no more are added.
    const isMade = candidates === this.#seen;
    this.#seen = candidates;
    if (candidates <= this.#settled) return !isComplete;
    if (isMade && (await this.#isAdopted(adopt))) this.#settled = candidates;
    return true;
  }

  /** @returns false where a store did not answer, so that the same has to be tried again */
  async #isAdopted(adopt: Adopt): Promise<boolean> {
    try {
      const found = this.explorer.explore();
      await adopt(found);
      const crons = [...found.keys()].filter((name) => !this.#known.has(name));
      this.#known = found;
      this.telemetry.emit('crons.discovered', { crons });
    } catch (error) {
      if (isStoreError(error)) {
        reportStoreFailure(this.telemetry, { operation: 'catalog.declare' }, error);
        return false;
      }
      this.telemetry.emit('crons.refused', { err: asError(error) });
    }
    return true;
  }

  #reportLater(): void {
    this.#cancelReport();
    this.#cancelReport = this.clock.after(PATIENCE_MS, () => this.#report());
  }

  /** Only what is news. */
  #report(): void {
    const methods = textsOf(this.explorer.undiscovered());
    const isNews = methods.length > 0 && methods.join() !== this.#reported;
    this.#reported = methods.join();
    if (isNews) this.telemetry.emit('crons.undiscovered', { methods });
  }

  #isWarningEnough(): boolean {
    const { undiscovered } = this.settings;
    if (undiscovered !== undefined) return undiscovered === 'warn';
    // Of `Test.createTestingModule`: a test provides a part of the program on purpose.
    return [...this.modules.values()].some(({ metatype }) => metatype.name === 'RootTestModule');
  }
}
