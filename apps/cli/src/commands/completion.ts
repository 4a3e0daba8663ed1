import { Argument, Command } from 'commander';
import { EXIT } from '../exit.js';
import { withOutput, type OutputFlags } from '../output.js';
import type { Setting } from '../world.js';

const ABOUT =
  'Prints a script that completes commands and options. bash: add  source <(fencepost completion bash)  to ~/.bashrc. ' +
  'zsh: add  source <(fencepost completion zsh)  to ~/.zshrc, after compinit. ' +
  'fish: fencepost completion fish > ~/.config/fish/completions/fencepost.fish.';

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof SHELLS;

export function completionCommand({ answer }: Setting): Command {
  const command = new Command('completion').summary('completion for bash, zsh or fish').description(ABOUT);
  command.addArgument(new Argument('<shell>', 'whose script').choices(Object.keys(SHELLS)));
  return withOutput(command).action((shell: Shell, flags: OutputFlags) => {
    const lines = SHELLS[shell](placesIn(command.parent ?? command));
    answer({ code: EXIT.ok, json: { name: shell, script: lines.join('\n') }, text: () => lines }, flags);
  });
}

/** A command, with what may be typed after it. */
interface Place {
  /** The names of the commands above it and its own, without that of the program. */
  readonly path: readonly string[];
  readonly commands: readonly Command[];
  readonly options: readonly { readonly long: string; readonly text: string }[];
}

function placesIn(command: Command, path: readonly string[] = []): Place[] {
  const options = command.options.flatMap(({ long, description, hidden }) =>
    long && !hidden ? [{ long, text: description }] : [],
  );
  const place = { path, commands: command.commands, options: [...options, { long: '--help', text: 'shows help' }] };
  return [place, ...command.commands.flatMap((each) => placesIn(each, [...path, each.name()]))];
}

const typed = (path: readonly string[]) => path.map((name) => ` ${name}`).join('');

function bashScript(places: readonly Place[]): string[] {
  const known = places.filter(({ path }) => path.length > 0).map(({ path }) => quoted(typed(path)));
  const cases = places.map(({ path, commands, options }) => {
    const words = [...commands.map((each) => each.name()), ...options.map(({ long }) => long)];
    return `    ${quoted(typed(path))}) words=${quoted(words.join(' '))} ;;`;
  });
  return [
    '_fencepost() {',
    '  local word place= words=',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    case "$place $word" in',
    `      ${known.join('|')}) place="$place $word" ;;`,
    '    esac',
    '  done',
    '  case "$place" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    // Files where nothing of ours fits: some commands take one.
    'complete -o default -F _fencepost fencepost',
  ];
}

function zshScript(places: readonly Place[]): string[] {
  return ['autoload -Uz bashcompinit && bashcompinit', ...bashScript(places)];
}

function fishScript(places: readonly Place[]): string[] {
  return places.flatMap(({ path, commands, options }) => {
    const [first] = path;
    const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ');
    const here = `complete -c fencepost -n ${quoted(first === undefined ? '__fish_use_subcommand' : seen)}`;
    return [
      ...commands.map((each) => `${here} -f -a ${each.name()} -d ${quoted(each.summary())}`),
      ...options.map(({ long, text }) => `${here} -l ${long.slice(2)} -d ${quoted(text)}`),
    ];
  });
}

/** In single quotes, as every one of the shells reads them. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '').replaceAll("'", '’')}'`;
}
