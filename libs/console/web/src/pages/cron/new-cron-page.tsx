import { useLocation } from 'wouter-preact';
import { may } from '../../data/session.js';
import { Page } from '../../ui/page.js';
import { WORDS } from '../../words.js';
import { DefinitionOrder } from './definition-order.js';

/** A place of its own, so that any list may lead to it. */
export function NewCronPage() {
  const [, go] = useLocation();
  return (
    <Page title={WORDS.cron.form.newTitle} intro={WORDS.cron.form.newText}>
      {may('admin') ? <DefinitionOrder cron={null} onClose={() => go('/')} /> : null}
    </Page>
  );
}
