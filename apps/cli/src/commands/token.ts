import { newToken, ROLES, type AccessRole } from '@fencepost/pod/tokens';
import { Command, Option } from 'commander';
import { EXIT } from '../exit.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { withJson, type JsonFlags } from './orders.js';

interface Flags extends JsonFlags {
  readonly role: AccessRole;
}

const ABOUT =
  'Makes a token for the API and the pages, and the line by which the pods know it. The token is shown this once and kept ' +
  'nowhere; the line has only its hash. A viewer may look; an operator may also pause, trigger, cancel, retry and answer; ' +
  'an admin may do everything.';

export function tokenCommand({ answer }: Setting): Command {
  const command = new Command('token')
    .summary('make a token for the API and the pages')
    .description(ABOUT)
    .argument('<name>', 'whose it is: it stands in the audit records')
    .addOption(new Option('--role <role>', 'what it may do').choices(ROLES).makeOptionMandatory());
  return withJson(command).action((name: string, flags: Flags) => {
    const { role } = flags;
    const { secret, line } = newToken(name, role);
    const text = (width: number) => [
      `Token: ${secret}`,
      `Line:  ${line}`,
      ...hanging(
        'Hand the token to whoever is to use it: nobody can be told it again. Add the line to FENCEPOST_TOKENS of the pods, ' +
          'with a comma between two, or to the file of FENCEPOST_TOKENS_FILE, and restart them.',
        width,
      ),
    ];
    answer({ code: EXIT.ok, json: { name, role, token: secret, line }, text }, flags);
  });
}
