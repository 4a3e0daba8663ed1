import { Link } from 'wouter-preact';
import { Page } from '../ui/page.js';

export function NotFoundPage() {
  return (
    <Page title="No such page" intro="Nothing is kept under this address.">
      <p>
        <Link href="/">To the list of crons</Link>
      </p>
    </Page>
  );
}
