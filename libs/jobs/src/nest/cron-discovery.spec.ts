import { ModulesContainer } from '@nestjs/core';
import { ManualClock } from '@fencepost/lease/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordedEvents, type RecordedEvents } from '../../../../test/support/recorded.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { AwaitedWorkers } from './awaited-workers.js';
import { CronDeclarationError } from './cron-declaration.js';
import { CronDiscovery, LOOK_AGAIN_MS } from './cron-discovery.js';
import type { CronExplorer, FoundCron } from './cron-explorer.js';
import { SingletonCron } from './singleton-cron.decorator.js';
import type { UndiscoveredMethod } from './undiscovered.js';

const MISSING: UndiscoveredMethod = {
  className: 'Reports',
  method: 'nightly',
  decorator: '@SingletonCron',
  reason: 'nothing provides it',
};
const TEXT = 'Reports.nightly (@SingletonCron): nothing provides it';

/** Finds what a test says. */
class FoundByTest {
  crons: string[] = [];
  /** More than crons while their instances are made. */
  candidates: number | null = null;
  missing: UndiscoveredMethod[] = [];
  isComplete = true;
  refusal: Error | null = null;

  explore(): Map<string, FoundCron> {
    if (this.refusal) throw this.refusal;
    return new Map(this.crons.map((name) => [name, { where: name } as FoundCron]));
  }

  survey() {
    return { candidates: this.candidates ?? this.crons.length, isComplete: this.isComplete };
  }

  undiscovered() {
    return this.missing;
  }
}

let clock: ManualClock;
let events: RecordedEvents;
let explorer: FoundByTest;
let awaited: AwaitedWorkers;
let token: object;
let modules: ModulesContainer;
let discovery: CronDiscovery;

function discover(undiscovered?: 'error' | 'warn'): CronDiscovery {
  const telemetry = new Telemetry();
  events = recordedEvents(telemetry);
  discovery = new CronDiscovery();
  const injected = {
    settings: { undiscovered },
    explorer: explorer as unknown as CronExplorer,
    modules,
    awaited,
    token,
  };
  return Object.assign(discovery, { ...injected, clock, telemetry });
}

beforeEach(() => {
  clock = new ManualClock();
  explorer = new FoundByTest();
  awaited = new AwaitedWorkers();
  token = awaited.add();
  modules = new ModulesContainer();
});
afterEach(() => discovery.stop());

describe('CronDiscovery at the end of the boot', () => {
  beforeEach(() => {
    explorer.crons = ['found'];
  });

  it('returns all crons where nothing is undiscovered', () => {
    expect([...discover().exploreAll().keys()]).toEqual(['found']);
    expect(events.names).toEqual([]);
  });

  it('refuses to start by default where something is', () => {
    explorer.missing = [MISSING];
    expect(() => discover().exploreAll()).toThrow(`A decorated method would never run:\n- ${TEXT}`);
  });

  it('logs it instead if the option says so', () => {
    explorer.missing = [MISSING];
    expect(discover('warn').exploreAll().size).toBe(1);
    expect(events.of('crons.undiscovered')).toEqual([{ methods: [TEXT] }]);
  });

  it('logs it in a testing module, which provides a part of a program on purpose, unless the option says otherwise', () => {
    explorer.missing = [MISSING];
    modules.set('root', { metatype: { name: 'RootTestModule' } } as never);
    discover().exploreAll();
    expect(events.of('crons.undiscovered')).toHaveLength(1);
    expect(() => discover('error').exploreAll()).toThrow(TEXT);
  });

  it('waits for another JobsModule of the process that has not booted, and logs what is still undiscovered', async () => {
    const other = awaited.add();
    explorer.missing = [MISSING];
    discover('error').exploreAll();
    await clock.advance(9_999);
    expect(events.names).toEqual([]);
    await clock.advance(1);
    expect(events.of('crons.undiscovered')).toEqual([{ methods: [TEXT] }]);
    // The last one to boot has nothing left to wait for.
    awaited.boots(other);
    expect(() => discovery.exploreAll()).toThrow(TEXT);
  });

  it('logs nothing where the other JobsModule has found it meanwhile', async () => {
    awaited.add();
    explorer.missing = [MISSING];
    discover('error').exploreAll();
    explorer.missing = [];
    await clock.advance(60_000);
    expect(events.names).toEqual([]);
  });
});

describe('CronDiscovery after the boot', () => {
  const adopted: string[][] = [];
  const adopt = vi.fn<(found: ReadonlyMap<string, FoundCron>) => Promise<void>>();
  const looks = vi.spyOn(FoundByTest.prototype, 'survey');

  beforeEach(() => {
    adopted.length = 0;
    adopt.mockReset();
    adopt.mockImplementation(async (found) => void adopted.push([...found.keys()]));
    explorer.crons = ['eager'];
    explorer.isComplete = false;
    discover('warn').exploreAll();
    discovery.watch(adopt);
  });

  it('hands over all crons once a lazy module has brought more, and only once', async () => {
    await clock.advance(5 * LOOK_AGAIN_MS);
    expect(adopted).toEqual([]);
    explorer.crons = ['eager', 'lazy'];
    await clock.advance(2 * LOOK_AGAIN_MS);
    expect(adopted).toEqual([['eager', 'lazy']]);
    await clock.advance(10 * LOOK_AGAIN_MS);
    expect(adopted).toHaveLength(1);
    expect(events.of('crons.discovered')).toEqual([{ crons: ['lazy'] }]);
  });

  it('leaves instances alone until the lazy module has made them', async () => {
    explorer.candidates = 2;
    await clock.advance(LOOK_AGAIN_MS);
    explorer.candidates = 3;
    await clock.advance(LOOK_AGAIN_MS);
    expect(adopted).toEqual([]);
    explorer.crons = ['eager', 'lazy', 'lazier'];
    await clock.advance(LOOK_AGAIN_MS);
    expect(adopted).toEqual([['eager', 'lazy', 'lazier']]);
  });

  it('stops looking when nothing is missing any more, and looks again when a class is decorated', async () => {
    explorer.isComplete = true;
    await clock.advance(LOOK_AGAIN_MS);
    looks.mockClear();
    await clock.advance(10 * LOOK_AGAIN_MS);
    expect(looks).not.toHaveBeenCalled();
    class ImportedLater {
      @SingletonCron('0 3 * * *', { name: 'later' })
      tick(): void {}
    }
    expect(ImportedLater.name).toBe('ImportedLater');
    explorer.crons = ['eager', 'later'];
    await clock.advance(2 * LOOK_AGAIN_MS);
    expect(adopted).toEqual([['eager', 'later']]);
  });

  it('logs a class that is decorated later and that nothing has provided within ten seconds, once', async () => {
    class NeverProvided {
      @SingletonCron('0 3 * * *', { name: 'never' })
      tick(): void {}
    }
    expect(NeverProvided.name).toBe('NeverProvided');
    explorer.missing = [MISSING];
    await clock.advance(9_999);
    expect(events.names).toEqual([]);
    await clock.advance(60_000);
    expect(events.of('crons.undiscovered')).toEqual([{ methods: [TEXT] }]);
    class NeverProvidedEither {
      @SingletonCron('0 3 * * *', { name: 'neither' })
      tick(): void {}
    }
    expect(NeverProvidedEither.name).toBe('NeverProvidedEither');
    await clock.advance(60_000);
    expect(events.of('crons.undiscovered')).toHaveLength(1);
  });

  it('logs crons that are refused once, and goes on with the next module', async () => {
    explorer.crons = ['eager', 'wrong'];
    explorer.refusal = new CronDeclarationError('Lazy.wrong', 'expected a name of its own.');
    await clock.advance(10 * LOOK_AGAIN_MS);
    expect(events.of('crons.refused')).toEqual([{ err: explorer.refusal }]);
    explorer.refusal = null;
    explorer.crons = ['eager', 'wrong', 'right'];
    await clock.advance(2 * LOOK_AGAIN_MS);
    expect(adopted).toEqual([['eager', 'wrong', 'right']]);
  });

  it('tries again where a store did not answer', async () => {
    adopt.mockRejectedValueOnce(new Error('Connection is closed.'));
    explorer.crons = ['eager', 'lazy'];
    await clock.advance(2 * LOOK_AGAIN_MS);
    expect(events.of('store.failed')).toMatchObject([{ operation: 'catalog.declare' }]);
    await clock.advance(LOOK_AGAIN_MS);
    expect(adopted).toEqual([['eager', 'lazy']]);
    expect(events.of('crons.discovered')).toEqual([{ crons: ['lazy'] }]);
  });

  it('does nothing more once it is stopped', async () => {
    discovery.stop();
    looks.mockClear();
    explorer.crons = ['eager', 'lazy'];
    discovery.watch(adopt);
    await clock.advance(10 * LOOK_AGAIN_MS);
    expect(looks).not.toHaveBeenCalled();
  });

  it('does nothing more if it is stopped while crons are handed over', async () => {
    adopt.mockImplementation(async () => discovery.stop());
    explorer.crons = ['eager', 'lazy'];
    await clock.advance(2 * LOOK_AGAIN_MS);
    expect(adopt).toHaveBeenCalledTimes(1);
    looks.mockClear();
    await clock.advance(10 * LOOK_AGAIN_MS);
    expect(looks).not.toHaveBeenCalled();
  });
});
