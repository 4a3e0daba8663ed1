import { useState } from 'preact/hooks';
import { Redirect, useLocation } from 'wouter-preact';
import { ApiError } from '../data/client.js';
import { session, signIn } from '../data/session.js';
import { Field } from '../ui/fields.js';
import { Page } from '../ui/page.js';
import { WORDS } from '../words.js';

const { login: words } = WORDS;

export function LoginPage() {
  const [location] = useLocation();
  const current = session.value;
  if (current.state === 'in' && location === '/login') return <Redirect to="/" />;
  return (
    <Page title={words.title}>
      {current.state === 'out' && current.endedAt !== null ? (
        <p class="notice warn" role="status">
          {words.ended(current.endedAt)}
        </p>
      ) : null}
      <LoginForm />
      <p class="quiet prose">
        {words.noToken} <code>{words.command}</code>. {words.roles}
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
      <Field label={words.token}>
        <input
          type="password"
          autocomplete="current-password"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </Field>
      {problem === null ? null : (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" class="primary">
        {words.title}
      </button>
    </form>
  );
}

function problemOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return words.unknown;
  return error instanceof Error ? error.message : String(error);
}
