import { Command, Option } from 'commander';
import type { Answers } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { json, words, type JsonValue } from '../option-values.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { questionIn, withQuestion, type QuestionFlags } from './answered-question.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags, QuestionFlags {
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
  return withOutput(withDeploymentOptions(withBy(withQuestion(command)))).action(
    async (runId: string, flags: Flags) => {
      const { answer: said, result, reason } = flags;
      const given = { reason, answer: said, ...(result && { result: result.value }) };
      const order = { ...given, ...questionIn(flags) };
      const resolved = await withDeployment(flags, world, (deployment) => deployment.resolve(runId, order));
      answer({ code: EXIT.ok, json: resolved, text: (width) => hanging(sentence(resolved), width) }, flags);
    },
  );
}

function sentence({ runId, state }: Answers['Resolved']): string {
  return state === 'failed' ? `${runId} is given up.` : `${runId} continues (${state}).`;
}
