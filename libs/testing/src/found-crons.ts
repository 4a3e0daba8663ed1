import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import type { Clock } from '@fencepost/lease';
import { CronExplorer, type FoundCron } from '@fencepost/jobs/internal';

/** What a Nest application, or a compiled testing module, has of what is needed here. */
interface Container {
  get(token: unknown, options: { readonly strict: false }): unknown;
  select(module: unknown): unknown;
}

/**
 * The crons and jobs of instances of decorated classes and of Nest applications, found and checked as a worker does it.
 * @throws {CronDeclarationError} as at the start of a worker
 */
export function foundCrons(sources: readonly object[], clock: Clock): ReadonlyMap<string, FoundCron> {
  const apps = sources.filter(isContainer).map((app) => discoveryOf(app));
  const instances = sources.filter((source) => !isContainer(source)).map(providerOf);
  const discovery = {
    getProviders: () => [...instances, ...apps.flatMap((app) => app.getProviders())],
    getControllers: () => apps.flatMap((app) => app.getControllers()),
  };
  const explorer = new CronExplorer(discovery as unknown as DiscoveryService, clock);
  // Nest would set it. Instants of a test may be as close as they like.
  Reflect.set(explorer, 'settings', { minIntervalMs: 0 });
  return explorer.explore();
}

function isContainer(source: object): source is Container {
  return ['get', 'select'].every((method) => typeof Reflect.get(source, method) === 'function');
}

function discoveryOf(app: Container): DiscoveryService {
  return new DiscoveryService(app.get(ModulesContainer, { strict: false }) as ModulesContainer);
}

/** As Nest has a provider that exists once. */
function providerOf(instance: object) {
  return { instance, metatype: instance.constructor, isDependencyTreeStatic: () => true, isTransient: false };
}
