import { Command, Option } from 'commander';
import { EXIT } from '../exit.js';
import type { Resolved } from '../jobs.js';
import { json, words, type JsonValue } from '../option-values.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { questionIn, withQuestion, type QuestionFlags } from './answered-question.js';
import { audited, cronIn, runIn } from './audited.js';
import { asker, withBy, withJson, type OrderFlags } from './orders.js';

interface Flags extends StoreFlags, OrderFlags, QuestionFlags {
  readonly answer: 'done' | 'not-done' | 'give-up';
  readonly result?: JsonValue;
  readonly reason: string;
}

const ANSWERS = ['done', 'not-done', 'give-up'] satisfies Flags['answer'][];

const ABOUT =
  'Resolves an effect whose outcome is unknown: done, not done and to be repeated, or the run is ' +
  'given up. The answer is kept in the audit trail. It applies only to the effect that --attempt, --effect, --item ' +
  'and --since name: "fencepost uncertain" shows the whole command.';

export function resolveCommand({ world, answer }: Setting): Command {
  const which = new Option('--answer <word>', 'outcome of the effect').choices(ANSWERS).makeOptionMandatory();
  const command = new Command('resolve')
    .summary('resolve an uncertain run')
    .description(ABOUT)
    .argument('<run-id>', 'run id, as shown by "fencepost uncertain"')
    .addOption(which)
    .option('--result <json>', 'with done: result of the effect (default: null)', json)
    .requiredOption('--reason <words>', 'how you know; kept in the audit trail', words);
  return withJson(withStoreOptions(withBy(withQuestion(command)))).action(async (runId: string, flags: Flags) => {
    const { answer: said, result, reason } = flags;
    const given = { reason, answer: said, ...(result && { result: result.value }) };
    const order = { by: asker(flags, world), ...given, ...questionIn(flags) };
    const resolved = await withStore(flags, world, async (store) => {
      const { state, unresolvedEffect } = (await runIn(store, runId)) ?? { state: null, unresolvedEffect: null };
      const before = { state, asks: unresolvedEffect?.effect ?? null };
      const about = {
        by: order.by,
        reason,
        action: 'resolve',
        cron: cronIn(runId),
        runId,
        before,
        after: answered(said),
      };
      return audited({ store, world }, about, () => store.runs.resolve(runId, order));
    });
    answer({ code: EXIT.ok, json: resolved, text: (width) => hanging(sentence(resolved), width) }, flags);
  });
}

function answered(said: Flags['answer']): (resolved: Resolved) => object {
  return ({ state }) => ({ state, answer: said });
}

function sentence({ runId, state }: Resolved): string {
  return state === 'failed' ? `${runId} is given up.` : `${runId} continues (${state}).`;
}
