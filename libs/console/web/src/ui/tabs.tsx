import { useId, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

export type Tab = readonly [key: string, name: string];

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly choose: (key: string) => void;
  /** What the chosen one shows. */
  readonly children: ComponentChildren;
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

/** One stop of the tab key; arrows, Home and End go from one to the next and show it. */
export function Tabs({ label, tabs, chosen, choose, children }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const key = nextOf(tabs, chosen, event.key);
    if (key === null) return;
    event.preventDefault();
    choose(key);
    list.current?.querySelector<HTMLElement>(`[data-tab="${key}"]`)?.focus();
  };
  return (
    <>
      <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(([key, name]) => (
          <button
            key={key}
            type="button"
            role="tab"
            id={`${id}-${key}`}
            data-tab={key}
            aria-selected={key === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={key === chosen ? 0 : -1}
            onClick={() => choose(key)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  );
}

/** The tab that a key leads to; `null` for any other key. */
function nextOf(tabs: readonly Tab[], chosen: string, key: string): string | null {
  const at = tabs.findIndex(([one]) => one === chosen);
  const step = STEPS[key];
  const aim = key === 'Home' ? 0 : key === 'End' ? tabs.length - 1 : step === undefined ? null : at + step;
  return aim === null ? null : (tabs[(aim + tabs.length) % tabs.length]?.[0] ?? null);
}
