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

const { notify: words, heads } = WORDS;

const EVERY_MS = 10_000;

/** Who is told of alarms, whether it arrives, and what is muted. */
export function NotifyPage() {
  const mutes = useResource(questions.mutes(), { everyMs: EVERY_MS, keeps: true });
  const receivers = useResource(questions.receivers(), { everyMs: EVERY_MS, keeps: true });
  return (
    <Page title={words.title} intro={words.intro}>
      <Section title={words.mutes}>
        <Shown of={mutes} what={WORDS.what.mutes}>
          {({ items }) => <Mutes mutes={items} reload={mutes.reload} />}
        </Shown>
      </Section>
      <Section title={words.receivers}>
        <Shown of={receivers} what={WORDS.what.receivers}>
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

const nameOf = ({ cron, tag }: Mute) => cron ?? words.tag(tag ?? '');

function Mutes({ mutes, reload }: MutesProps) {
  const [isMuting, setMuting] = useState(false);
  const [ending, setEnding] = useState<Mute | null>(null);
  const close = () => {
    setMuting(false);
    setEnding(null);
    reload();
  };
  const columns: readonly Column<Mute>[] = [
    { title: words.muted, heads: true, cell: nameOf },
    { title: heads.until, cell: ({ until }) => <Instant at={until} relative /> },
    { title: heads.by, cell: ({ by }) => by },
    { title: heads.reason, cell: ({ reason }) => reason },
    { title: heads.actions, cell: (mute) => (may('operator') ? <EndButton mute={mute} onClick={setEnding} /> : null) },
  ];
  return (
    <>
      {mutes.length === 0 ? (
        <Empty title={words.noMutes}>
          <p>{words.noMutesText}</p>
        </Empty>
      ) : (
        <Table caption={words.mutes} columns={columns} rows={mutes} keyOf={nameOf} />
      )}
      {may('operator') ? (
        <div class="buttons">
          <button type="button" onClick={() => setMuting(true)}>
            {words.muteButton}
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
    <button type="button" aria-label={words.unmuteTitle(nameOf(mute))} onClick={() => onClick(mute)}>
      {words.unmuteButton}
    </button>
  );
}

function Unmute({ mute, onClose }: { readonly mute: Mute; readonly onClose: () => void }) {
  const target = mute.cron === null ? { tag: mute.tag ?? '' } : { cron: mute.cron };
  const execute = async (reason: string) => {
    await notifyOrders.unmute({ ...target, reason });
    return words.isUnmuted(nameOf(mute));
  };
  const title = words.unmuteTitle(nameOf(mute));
  return <Order text={words.unmuteText} verb={words.unmute} {...{ title, execute, onClose }} />;
}

interface ReceiversProps {
  readonly receivers: readonly Receiver[];
  readonly reload: () => void;
}

function Receivers({ receivers, reload }: ReceiversProps) {
  if (receivers.length > 0)
    return receivers.map((receiver) => <Deliveries key={receiver.id} {...{ receiver, reload }} />);
  return (
    <Empty title={words.noReceivers}>
      <p>{words.noReceiversText}</p>
    </Empty>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  { title: heads.when, heads: true, cell: ({ at }) => <Instant at={at} /> },
  { title: words.message, cell: ({ about }) => about },
  { title: heads.cron, cell: ({ cron }) => cron },
  { title: heads.attempt, numeric: true, cell: ({ attempt }) => attempt },
  { title: heads.result, cell: ({ outcome, status }) => (status === null ? outcome : `${outcome} (${status})`) },
  { title: heads.took, numeric: true, cell: ({ tookMs }) => <Duration ms={tookMs} /> },
  { title: heads.error, cell: ({ error }) => error },
];

function Deliveries({ receiver, reload }: { readonly receiver: Receiver; readonly reload: () => void }) {
  const { id, kind, to, events, crons, moreCrons, secrets, deliveries } = receiver;
  const [isTesting, setTesting] = useState(false);
  const name = to ?? words.pings;
  const close = () => {
    setTesting(false);
    reload();
  };
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      <p class="quiet">
        {events.length === 0 ? null : `${events.join(', ')} · `}
        {crons === null ? words.allCrons : crons.join(', ')}
        {moreCrons > 0 ? ` ${WORDS.list.andMore(moreCrons)}` : null}
        {secrets > 1 ? ` · ${words.twoSecrets}` : null}
      </p>
      {kind === 'webhook' && may('operator') ? (
        <div class="buttons">
          <button type="button" aria-label={words.testTitle(name)} onClick={() => setTesting(true)}>
            {words.test}
          </button>
        </div>
      ) : null}
      {deliveries.length === 0 ? (
        <p>{words.noDeliveries}</p>
      ) : (
        <Table
          caption={words.deliveries(name)}
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
    if (outcome !== 'delivered') throw new Error(error ?? words.notDelivered);
    return words.answered(name, status, tookMs);
  };
  return <Order title={words.testTitle(name)} text={words.testText} verb={words.send} {...{ execute, onClose }} />;
}
