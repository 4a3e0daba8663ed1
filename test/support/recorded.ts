import type { EventName, Events, Telemetry } from '@fencepost/jobs';
import type { LeaseObserver } from '@fencepost/lease';

export interface RecordedEvents {
  /** All names, in the order in which the events came. */
  readonly names: EventName[];
  /** What the events of one name carried, in their order. */
  of<N extends EventName>(name: N): Events[N][];
}

/** Listens to everything, for a test to look at afterwards. */
export function recordedEvents(telemetry: Telemetry): RecordedEvents {
  const all: { name: EventName; detail: unknown }[] = [];
  telemetry.listen((name, detail) => void all.push({ name, detail }));
  return {
    get names() {
      return all.map(({ name }) => name);
    },
    of: <N extends EventName>(wanted: N) =>
      all.filter(({ name }) => name === wanted).map(({ detail }) => detail as Events[N]),
  };
}

export interface RecordedWarnings {
  readonly observe: LeaseObserver;
  /** The codes, in the order in which they came. */
  readonly codes: readonly string[];
  readonly messages: readonly string[];
}

/** Hears what a connection warns of. */
export function recordedWarnings(): RecordedWarnings {
  const codes: string[] = [];
  const messages: string[] = [];
  const observe: LeaseObserver = (event) => {
    if (event.name !== 'store.warning') return;
    codes.push(event.code);
    messages.push(event.message);
  };
  return { observe, codes, messages };
}
