interface TextProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** An instant in UTC, to the second: what a person types has to mean the same to everybody. */
export function InstantField({ label, hint, value, onChange, required }: TextProps & { readonly required?: boolean }) {
  return (
    <label class="field">
      <span>
        {label} <small class="quiet">({hint ?? 'UTC'})</small>
      </span>
      <input
        type="datetime-local"
        step={1}
        required={required}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}

/** `2026-11-21T03:00:00`, as such a field has it, of an ISO instant. */
export function fieldOf(iso: string): string {
  return iso.slice(0, 19);
}

/** The ISO instant of what such a field has. */
export function isoOf(field: string): string {
  return new Date(`${field}Z`).toISOString();
}

export function JsonField({ label, hint, value, onChange }: TextProps) {
  return (
    <label class="field">
      <span>
        {label} {hint ? <small class="quiet">({hint})</small> : null}
      </span>
      <textarea
        rows={3}
        class="code"
        spellcheck={false}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
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
