import type { ComponentChildren } from 'preact';
import { WORDS } from '../words.js';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
}

interface TextProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly required?: boolean;
}

/** One field with its name, and a hint beside it. */
export function Field({ label, hint, children }: FieldProps & { readonly children: ComponentChildren }) {
  return (
    <label class="field">
      <span>
        {label} {hint ? <small class="quiet">({hint})</small> : null}
      </span>
      {children}
    </label>
  );
}

export function TextField({ label, hint, value, onChange, required }: TextProps) {
  return (
    <Field {...{ label, hint }}>
      <input
        type="text"
        spellcheck={false}
        required={required}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}

/** A browser would show such a field by the clock of its own language, which may be one of twelve hours. */
const INSTANT = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?`;

/** An instant in UTC, to the second: what a person types has to mean the same to everybody. */
export function InstantField({ label, hint = WORDS.time.choices.utc, value, onChange, required }: TextProps) {
  return (
    <Field {...{ label, hint }}>
      <input
        type="text"
        class="instant-field"
        placeholder={WORDS.order.instantForm}
        pattern={INSTANT}
        required={required}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}

/** `2026-11-21 03:00:00`, as such a field has it, of an ISO instant. */
export function fieldOf(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

/** Whether such a field has an instant by now. */
export function isInstantField(field: string): boolean {
  return new RegExp(`^${INSTANT}$`).test(field) && !Number.isNaN(Date.parse(`${field.replace(' ', 'T')}Z`));
}

/**
 * The ISO instant of what such a field has.
 * @throws RangeError for what is none
 */
export function isoOf(field: string): string {
  return new Date(`${field.replace(' ', 'T')}Z`).toISOString();
}

export function JsonField({ label, hint, value, onChange }: TextProps) {
  return (
    <Field {...{ label, hint }}>
      <textarea
        rows={3}
        class="code"
        spellcheck={false}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}

interface CheckProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  /** Nothing is sent unless it is checked. */
  readonly required?: boolean;
}

export function Check({ label, checked, onChange, required }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" {...{ checked, required }} onChange={(event) => onChange(event.currentTarget.checked)} />{' '}
      {label}
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label class="field inline">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
