import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { between } from '../draw.js';
import type { Fault } from '../fault.js';
import type { Fleet } from '../fleet.js';
import type { Program } from '../programs.js';

/** Around the time after which pods count as gone, and a revision gives way. */
const SCALED_DOWN_MS = { least: 500, most: 40_000 };
const CONFIGS = 4;

type Deployed = Pick<Fleet, 'deploy' | 'deployed' | 'scaleDown'>;

/** What operators do to the workers while everything else goes wrong, one thing at a time. */
export function deployFaults(fleet: Deployed): Fault[] {
  let former: Program | null = null;
  const release = async (program: Program, signal: AbortSignal) => {
    const before = fleet.deployed;
    const isDone = await fleet.deploy(program, signal);
    if (isDone) former = before;
    return isDone;
  };
  const config = ({ code, config: before }: Program) => ({ code, config: (before + 1) % CONFIGS });
  return [
    ...[
      deployFault('deploy', (_, signal) => release(nextOf(fleet), signal)),
      deployFault('config-change', (_, signal) => release(config(fleet.deployed), signal)),
      // A rollback, and at the beginning another deployment.
      deployFault('roll-back', (_, signal) => release(former ?? nextOf(fleet), signal)),
    ],
    deployFault('scale-down', async (random, signal) => {
      const up = await fleet.scaleDown(random(), signal);
      await sleep(systemClock, between(SCALED_DOWN_MS, random), signal);
      return up();
    }),
  ];
}

/** Only this comes of a fleet that is hurt in other ways: the workers are replaced by those of the next code. */
export function restartFault(fleet: Deployed): Fault {
  const strike: Fault['strike'] = (_, signal) => fleet.deploy(nextOf(fleet), signal);
  return { kind: 'rolling-restart', target: 'process', weight: 0.5, strike };
}

function deployFault(kind: string, strike: Fault['strike']): Fault {
  return { kind, target: 'process', strike };
}

function nextOf({ deployed: { code, config } }: Pick<Fleet, 'deployed'>): Program {
  return { code: code + 1, config };
}
