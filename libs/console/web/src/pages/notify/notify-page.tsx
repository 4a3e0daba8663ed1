import { useState } from 'preact/hooks';
import { notifyOrders } from '../../data/orders.js';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import { may } from '../../data/session.js';
import type { Delivery, Mute, Receiver } from '../../data/types.js';
import { Duration, Instant, ZoneNote } from '../../ui/instant.js';
import { Order } from '../../ui/order.js';
import { Page, Section } from '../../ui/page.js';
import { Empty, Shown } from '../../ui/states.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { MuteOrder } from './mute-order.js';

const EVERY_MS = 10_000;

/** Who is told of alarms, whether it arrives, and what is muted. */
export function NotifyPage() {
  const mutes = useResource(questions.mutes(), { everyMs: EVERY_MS, keeps: true });
  const receivers = useResource(questions.receivers(), { everyMs: EVERY_MS, keeps: true });
  return (
    <Page title="Notifications" intro="Who is told of alarms and failed runs, and what is muted.">
      <Section title="Mutes">
        <Shown of={mutes} what="the mutes">
          {({ items }) => <Mutes mutes={items} reload={mutes.reload} />}
        </Shown>
      </Section>
      <Section title="Receivers">
        <Shown of={receivers} what="the receivers">
          {({ items }) => <Receivers receivers={items} reload={receivers.reload} />}
        </Shown>
      </Section>
      <ZoneNote />
    </Page>
  );
}

interface MutesProps {
  readonly mutes: readonly Mute[];
  readonly reload: () => void;
}

const nameOf = ({ cron, tag }: Mute) => cron ?? `tag ${tag}`;

function Mutes({ mutes, reload }: MutesProps) {
  const [isMuting, setMuting] = useState(false);
  const [ending, setEnding] = useState<Mute | null>(null);
  const close = () => {
    setMuting(false);
    setEnding(null);
    reload();
  };
  const columns: readonly Column<Mute>[] = [
    { title: 'Muted', heads: true, cell: nameOf },
    { title: 'Until', cell: ({ until }) => <Instant at={until} relative /> },
    { title: 'By', cell: ({ by }) => by },
    { title: 'Reason', cell: ({ reason }) => reason },
    { title: 'Actions', cell: (mute) => (may('operator') ? <EndButton mute={mute} onClick={setEnding} /> : null) },
  ];
  return (
    <>
      {mutes.length === 0 ? (
        <Empty title="Nothing is muted">
          <p>Every alarm goes to its receivers.</p>
        </Empty>
      ) : (
        <Table caption="Mutes" columns={columns} rows={mutes} keyOf={nameOf} />
      )}
      {may('operator') ? (
        <div class="buttons">
          <button type="button" onClick={() => setMuting(true)}>
            Mute …
          </button>
        </div>
      ) : null}
      {isMuting ? <MuteOrder onClose={close} /> : null}
      {ending ? <Unmute mute={ending} onClose={close} /> : null}
    </>
  );
}

function EndButton({ mute, onClick }: { readonly mute: Mute; readonly onClick: (mute: Mute) => void }) {
  return (
    <button type="button" aria-label={`Unmute ${nameOf(mute)}`} onClick={() => onClick(mute)}>
      Unmute …
    </button>
  );
}

function Unmute({ mute, onClose }: { readonly mute: Mute; readonly onClose: () => void }) {
  const target = mute.cron === null ? { tag: mute.tag ?? '' } : { cron: mute.cron };
  const execute = async (reason: string) => {
    await notifyOrders.unmute({ ...target, reason });
    return `${nameOf(mute)} is not muted any more.`;
  };
  const text = 'Alarms that were raised meanwhile and are still open are sent.';
  return <Order title={`Unmute ${nameOf(mute)}`} verb="Unmute" {...{ text, execute, onClose }} />;
}

interface ReceiversProps {
  readonly receivers: readonly Receiver[];
  readonly reload: () => void;
}

function Receivers({ receivers, reload }: ReceiversProps) {
  if (receivers.length > 0)
    return receivers.map((receiver) => <Deliveries key={receiver.id} {...{ receiver, reload }} />);
  return (
    <Empty title="Nobody is told">
      <p>Configure webhooks in JobsModule, or a ping on a cron.</p>
    </Empty>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  { title: 'When', heads: true, cell: ({ at }) => <Instant at={at} /> },
  { title: 'Message', cell: ({ about }) => about },
  { title: 'Cron', cell: ({ cron }) => cron },
  { title: 'Attempt', numeric: true, cell: ({ attempt }) => attempt },
  { title: 'Outcome', cell: ({ outcome, status }) => (status === null ? outcome : `${outcome} (${status})`) },
  { title: 'Took', numeric: true, cell: ({ tookMs }) => <Duration ms={tookMs} /> },
  { title: 'Error', cell: ({ error }) => error },
];

function Deliveries({ receiver, reload }: { readonly receiver: Receiver; readonly reload: () => void }) {
  const { id, kind, to, events, crons, moreCrons, secrets, deliveries } = receiver;
  const [isTesting, setTesting] = useState(false);
  const name = to ?? 'Pings of crons';
  const close = () => {
    setTesting(false);
    reload();
  };
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      <p class="quiet">
        {events.length === 0 ? null : `${events.join(', ')} · `}
        {crons === null ? 'all crons' : crons.join(', ')}
        {moreCrons > 0 ? ` ${WORDS.home.more(moreCrons)}` : null}
        {secrets > 1 ? ' · two secrets: a rotation is under way' : null}
      </p>
      {kind === 'webhook' && may('operator') ? (
        <div class="buttons">
          <button type="button" aria-label={`Send a test to ${name}`} onClick={() => setTesting(true)}>
            Send a test …
          </button>
        </div>
      ) : null}
      {deliveries.length === 0 ? (
        <p>No deliveries yet.</p>
      ) : (
        <Table
          caption={`Latest deliveries to ${name}`}
          columns={COLUMNS}
          rows={deliveries}
          keyOf={({ messageId, attempt, at }) => `${messageId} ${attempt} ${at}`}
        />
      )}
      {isTesting ? <TestOrder {...{ id, name }} onClose={close} /> : null}
    </section>
  );
}

interface TestProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

function TestOrder({ id, name, onClose }: TestProps) {
  const execute = async (reason: string) => {
    const { outcome, status, error, tookMs } = await notifyOrders.test(id, { reason });
    if (outcome !== 'delivered') throw new Error(error ?? 'The test was not delivered.');
    return `${name} answered ${status} in ${tookMs} ms.`;
  };
  const text = 'A signed message of the type webhook.test is sent once.';
  return <Order title={`Send a test to ${name}`} verb="Send" {...{ text, execute, onClose }} />;
}
