import type { Candidate } from './candidates.js';
import { CronDeclarationError } from './cron-declaration.js';

/** Two methods with one name, and how to give each its own, where that is known. */
export function takenName(name: string, candidate: Candidate, other: Candidate): CronDeclarationError {
  const { where, decorated } = candidate;
  return new CronDeclarationError(
    where,
    `option "name" of ${decorated.called}: expected a name of its own, got ${JSON.stringify(name)}, ` +
      `which ${other.where} already has.${advice(candidate, other)}`,
  );
}

function advice(candidate: Candidate, other: Candidate): string {
  if (candidate.decorated !== other.decorated) return '';
  return candidate.type === other.type ? providedTwice(candidate, other) : inheritedTwice(candidate);
}

function inheritedTwice({ decorated }: Candidate): string {
  return (
    ` Both inherit it from ${decorated.holder.constructor.name}: compute the name from the class, ` +
    'such as name: (type) => `sync-${type.name}`.'
  );
}

/** Each of the two instances would run the method. */
function providedTwice({ type, provider }: Candidate, other: Candidate): string {
  const [module, otherModule] = [provider.host?.name, other.provider.host?.name];
  if (module === undefined || otherModule === undefined) return ` There are two instances of ${type.name}.`;
  if (provider.host === other.provider.host) {
    return ` Module ${module} provides ${type.name} under two tokens, as two instances: use useExisting for the second one.`;
  }
  const both =
    module === otherModule
      ? `Two instances of module ${module} provide ${type.name}, because it is imported with different options`
      : `Modules ${otherModule} and ${module} both provide ${type.name}`;
  return ` ${both}: provide it in one module, export it there, and import that module in the others.`;
}
