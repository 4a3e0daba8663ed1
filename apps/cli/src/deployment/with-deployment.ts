import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import type { World } from '../world.js';
import { consoleAddress, withConsoleOptions, type ConsoleFlags } from './console-address.js';
import { ConsoleDeployment } from './console-deployment.js';
import type { Deployment } from './deployment.js';
import { StoreDeployment } from './store-deployment.js';
import type { Command } from 'commander';

export type DeploymentFlags = ConsoleFlags & StoreFlags;

export function withDeploymentOptions(command: Command): Command {
  return withConsoleOptions(withStoreOptions(command));
}

/**
 * Does `work` with the deployment that the command line or the environment names: by way of a console, or of its stores, which
 * are closed again whatever becomes of it.
 */
export async function withDeployment<Result>(
  flags: DeploymentFlags,
  world: World,
  work: (deployment: Deployment) => Promise<Result>,
): Promise<Result> {
  const address = consoleAddress(flags, world);
  if (address) return work(new ConsoleDeployment(address, world));
  return withStore(flags, world, (store) => work(new StoreDeployment(store, world, flags.by)));
}
