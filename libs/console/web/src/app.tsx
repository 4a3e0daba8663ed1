import { Route, Router, Switch, Link } from 'wouter-preact';
import { BASE } from './data/base.js';
import { session, whoAmI } from './data/session.js';
import { AttentionPage } from './pages/attention/attention-page.js';
import { AuditPage } from './pages/audit-page.js';
import { CronPage } from './pages/cron/cron-page.js';
import { NewCronPage } from './pages/cron/new-cron-page.js';
import { CronsPage } from './pages/crons/crons-page.js';
import { DoctorPage } from './pages/doctor-page.js';
import { LeasesPage } from './pages/leases-page.js';
import { LoginPage } from './pages/login-page.js';
import { UpcomingPage } from './pages/upcoming/upcoming-page.js';
import { RunPage } from './pages/run/run-page.js';
import { RunsPage } from './pages/runs/runs-page.js';
import { NotifyPage } from './pages/notify/notify-page.js';
import { Announcer } from './ui/announcer.js';
import { Masthead } from './ui/masthead.js';
import { Failure } from './ui/states.js';
import { Page } from './ui/page.js';
import { WORDS } from './words.js';

const { frame: words } = WORDS;

export function App() {
  return (
    <Router base={BASE}>
      <a class="skip" href="#main">
        {words.skip}
      </a>
      <Masthead />
      <main id="main" tabIndex={-1}>
        <Content />
      </main>
      <Announcer />
    </Router>
  );
}

/** Whoever is not known signs in where they are, and then sees what they came for. */
function Content() {
  const current = session.value;
  switch (current.state) {
    case 'asking':
      return <p class="loading">{words.session}</p>;
    case 'away':
      return <Failure error={current.error} what={WORDS.what.you} reload={() => void whoAmI()} />;
    case 'out':
      return <LoginPage />;
    case 'in':
      return <Pages />;
  }
}

function Pages() {
  return (
    <Switch>
      <Route path="/" component={CronsPage} />
      <Route path="/cron/:name">{({ name }) => <CronPage key={name} name={decoded(name)} />}</Route>
      <Route path="/new-cron" component={NewCronPage} />
      <Route path="/run/:id">{({ id }) => <RunPage key={id} id={decoded(id)} />}</Route>
      <Route path="/attention" component={AttentionPage} />
      <Route path="/runs" component={RunsPage} />
      <Route path="/leases" component={LeasesPage} />
      <Route path="/upcoming" component={UpcomingPage} />
      <Route path="/notifications" component={NotifyPage} />
      <Route path="/audit" component={AuditPage} />
      <Route path="/doctor" component={DoctorPage} />
      <Route path="/login" component={LoginPage} />
      <Route component={NotFoundPage} />
    </Switch>
  );
}

/** The router has decoded all but what would change the path; a stray percent sign is one. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function NotFoundPage() {
  return (
    <Page title={words.noPage} intro={words.noPageText}>
      <p>
        <Link href="/">{words.toCrons}</Link>
      </p>
    </Page>
  );
}
