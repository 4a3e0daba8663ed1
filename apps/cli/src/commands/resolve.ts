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
  'Says what became of an effect that nobody knows of: it is done, it is not done and is to be done again, or the run is ' +
  'given up. The answer is kept in the journal of its cron. It counts only for the question that --attempt, --effect, --item ' +
  'and --since name: "fencepost uncertain" shows the whole command.';

export function resolveCommand({ world, answer }: Setting): Command {
  const which = new Option('--answer <word>', 'what became of it').choices(ANSWERS).makeOptionMandatory();
  const command = new Command('resolve')
    .summary('answer what an uncertain run asks')
    .description(ABOUT)
    .argument('<run-id>', 'as "fencepost uncertain" shows it')
    .addOption(which)
    .option('--result <json>', 'with done: what the effect brought (default: null)', json)
    .requiredOption('--reason <words>', 'how you know, for whoever asks later', words);
  return withJson(withStoreOptions(withBy(withQuestion(command)))).action(async (runId: string, flags: Flags) => {
    const { answer: said, result, reason } = flags;
    const given = { reason, answer: said, ...(result && { result: result.value }) };
    const order = { by: asker(flags, world), ...given, ...questionIn(flags) };
    const resolved = await withStore(flags, world, async (store) => {
      const { state, question } = (await runIn(store, runId)) ?? { state: null, question: null };
      const before = { state, asks: question?.effect ?? null };
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
  return state === 'failed' ? `${runId} is given up.` : `${runId} goes on (${state}).`;
}
