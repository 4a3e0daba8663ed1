import type { ComponentChildren } from 'preact';
import { None } from './table.js';

export type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values; what is `null` is shown as none. */
export function Facts({ of }: { readonly of: readonly Fact[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? <None />}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Any plain data, readable. */
export function Data({ value, label }: { readonly value: unknown; readonly label: string }) {
  if (value === null || value === undefined) return <None />;
  const text = JSON.stringify(value, null, 2);
  if (text.length <= 60) return <code>{JSON.stringify(value)}</code>;
  return (
    <pre class="code" role="region" aria-label={label} tabIndex={0}>
      {text}
    </pre>
  );
}
