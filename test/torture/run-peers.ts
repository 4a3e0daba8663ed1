import { parseArgs } from 'node:util';
import { PEERS, type Peer } from './peers.js';
import { torturePeer, type Torture } from './torture-peer.js';
import { judge, tableOf, unwell, type Row } from './verdict.js';

const HELP = `npm run torture:peers -- [--seconds 60] [--seed 7] [--only <part of a name>] [--json]

Fencepost and its peers, one after the other, each with fresh servers: one cron every second, work of 300 ms, and the same
nemesis with the same seed for so many seconds. What was written is counted outside of all of them.

--json  the last line is {"ok","seed","seconds","node","peers":[{"name","version","occurrences","missed","doubled","stale",
        "refused","faults"}]}; one that can't run here has "leftOut" instead. ok: Fencepost has 0 missed, doubled and stale,
        everybody was struck, and at least one peer came to harm. "because" says what was not so, and who was unwell
        in the "calm" seconds before.
--only  some of them, for a closer look; without Fencepost or without a peer it can't be ok.
`;

const options = {
  seconds: { type: 'string', default: '60' },
  seed: { type: 'string', default: '7' },
  only: { type: 'string', default: '' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return void process.stdout.write(HELP);
  const settings = { seconds: whole('seconds', values.seconds), seed: whole('seed', values.seed) };
  const chosen = PEERS.filter(({ name }) => name.toLowerCase().includes(values.only.toLowerCase()));
  if (chosen.length === 0) throw new Error(`Expected a part of a peer's name after --only, got "${values.only}".`);
  const rows: Row[] = [];
  for (const peer of chosen) rows.push(await rowOf(peer, settings));
  const { ok, because } = judge(rows);
  const remarks = [...because, ...unwell(rows)];
  const say = values.json ? console.error : console.log;
  say(`\n${tableOf(rows)}\n\n${[ok ? 'Fencepost came to no harm.' : 'It does not hold.', ...remarks].join('\n')}`);
  if (values.json)
    console.log(JSON.stringify({ ok, ...settings, node: process.version, because: remarks, peers: rows }));
  process.exitCode = ok ? 0 : 1;
}

async function rowOf({ hindrance, ...peer }: Peer, settings: Torture): Promise<Row> {
  console.error(`${peer.name} ${peer.version}: ${hindrance ?? `${settings.seconds} s ...`}`);
  if (hindrance !== undefined) return { name: peer.name, leftOut: hindrance };
  const outcome = await torturePeer(peer, settings);
  const { occurrences, missed, doubled, stale } = outcome;
  console.error(`  ${occurrences} instants: ${missed} missed, ${doubled} doubled, ${stale} stale`);
  return outcome;
}

function whole(option: string, given: string): number {
  const value = Number(given);
  if (/^\d{1,9}$/.test(given) && value >= 1) return value;
  throw new Error(`Expected a whole number from 1 after --${option}, got "${given}".`);
}

// What was started ends with this process: servers by their guards, processes when it exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
// Run from source, this module's arguments come after its own name.
await main(process.argv.slice(3)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
