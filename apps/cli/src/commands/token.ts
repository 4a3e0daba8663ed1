import { newToken, ROLES, type AccessRole } from '@fencepost/operations/access-tokens';
import { Command, Option } from 'commander';
import { EXIT } from '../exit.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends OutputFlags {
  readonly role: AccessRole;
}

const ABOUT =
  'Creates a token for the API and the pages, and the line that makes pods accept it. The token is shown once and stored ' +
  'nowhere; the line has only its hash. A viewer may read; an operator may also pause, trigger, cancel, retry and resolve; ' +
  'an admin may do everything.';

export function tokenCommand({ answer }: Setting): Command {
  const command = new Command('token')
    .summary('create a token for the API and the pages')
    .description(ABOUT)
    .argument('<name>', 'name of its owner, for the audit trail')
    .addOption(new Option('--role <role>', 'role of the token').choices(ROLES).makeOptionMandatory());
  return withOutput(command).action((name: string, flags: Flags) => {
    const { role } = flags;
    const { secret, line } = newToken(name, role);
    const text = (width: number) => [
      `Token: ${secret}`,
      `Line:  ${line}`,
      ...hanging(
        'Give the token to its owner; it cannot be shown again. Add the line to FENCEPOST_TOKENS of the pods, ' +
          'separated by commas, or to the file FENCEPOST_TOKENS_FILE, and restart them.',
        width,
      ),
    ];
    answer({ code: EXIT.ok, json: { name, role, token: secret, line }, text }, flags);
  });
}
