import { useState } from 'preact/hooks';
import { Redirect, useLocation } from 'wouter-preact';
import { ApiError } from '../data/client.js';
import { session, signIn } from '../data/session.js';
import { Page } from '../ui/page.js';

export function LoginPage() {
  const [location] = useLocation();
  if (session.value.state === 'in' && location === '/login') return <Redirect to="/" />;
  return (
    <Page title="Sign in" intro="Sign in with a token to see the crons.">
      <LoginForm />
      <p class="quiet prose">
        No token yet? An operator of the scheduler creates one with{' '}
        <code>fencepost token &lt;name&gt; --role viewer</code>. A viewer reads everything; an operator also pauses,
        triggers and resolves; an admin also removes crons and clears leases.
      </p>
    </Page>
  );
}

function LoginForm() {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async () => {
    setProblem(null);
    try {
      await signIn(token.trim());
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <form
      class="card login"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label class="field">
        <span>Token</span>
        <input
          type="password"
          autocomplete="current-password"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </label>
      {problem === null ? null : (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>
  );
}

function problemOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return 'Unknown token. Check that it is complete.';
  return error instanceof Error ? error.message : String(error);
}
