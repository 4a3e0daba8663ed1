import acceptedOnce from './g01-accepted-once.mjs';
import accountedFor from './g02-accounted-for.mjs';
import leaseFences from './g03-lease-fences.mjs';
import attemptFences from './g04-attempt-fences.mjs';
import currentAttempt from './g05-current-attempt.mjs';
import finalStates from './g06-final-states.mjs';
import delivery from './g07-delivery.mjs';
import boundedAttempts from './g08-bounded-attempts.mjs';
import doneOnce from './g09-done-once.mjs';
import unknownOutcomes from './g10-unknown-outcomes.mjs';
import fencedSinks from './g11-fenced-sinks.mjs';
import transactions from './g12-transactions.mjs';
import storeAway from './g13-store-away.mjs';
import takeover from './g14-takeover.mjs';
import oldBuilds from './g15-old-builds.mjs';
import definitions from './g16-definitions.mjs';
import notified from './g17-notified.mjs';
import deployments from './g18-deployments.mjs';
import routing from './g19-routing.mjs';
import notPromised from './not-promised.mjs';
import securityAccess from './security-access.mjs';
import securityLog from './security-log.mjs';
import securitySecrets from './security-secrets.mjs';

/** Every defence of a numbered guarantee or of a security boundary that is removed once. */
export const MUTANTS = [
  ...acceptedOnce,
  ...accountedFor,
  ...leaseFences,
  ...attemptFences,
  ...currentAttempt,
  ...finalStates,
  ...delivery,
  ...boundedAttempts,
  ...doneOnce,
  ...unknownOutcomes,
  ...fencedSinks,
  ...transactions,
  ...storeAway,
  ...takeover,
  ...oldBuilds,
  ...definitions,
  ...notified,
  ...deployments,
  ...routing,
  ...notPromised,
  ...securityAccess,
  ...securityLog,
  ...securitySecrets,
];

/** Of the specs that mutants name, those that load the least: everything else loads what these belong to. */
const LIGHT = ['libs/lease/', 'libs/schedule/', 'libs/jobs/', 'libs/'];
const NEEDS_A_SERVER = /-on-(bullmq|postgres|redis)\./;

/**
 * The short form: one mutant of each promise and one of a security boundary, by the spec that takes the least. Those that
 * take longest come first, so that none of them is waited for alone.
 * @param {readonly import('./mutation-lab.mjs').Mutant[]} mutants
 */
export function oneOfEach(mutants) {
  const cheapestFirst = mutants.toSorted((a, b) => weightOf(a) - weightOf(b));
  const first = new Map(cheapestFirst.toReversed().map((mutant) => [mutant.guards, mutant]));
  return [...first.values()]
    .filter(({ guards }) => !guards.startsWith('N'))
    .toSorted((a, b) => weightOf(b) - weightOf(a));
}

function weightOf({ killedBy }) {
  const light = LIGHT.findIndex((folder) => killedBy.startsWith(folder));
  return light < 0 || NEEDS_A_SERVER.test(killedBy) ? LIGHT.length : light;
}
