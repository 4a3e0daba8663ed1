import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { WORDS } from '../words.js';
import { StaleNotice } from './states.js';

interface PageProps {
  readonly title: string;
  readonly intro?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The first page keeps the focus where the browser puts it; each later one tells a screen reader where it is. */
let shown = 0;

export function Page({ title, intro, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${WORDS.frame.product}`;
    shown += 1;
    if (shown > 1) heading.current?.focus();
  }, [title]);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {intro ? <p class="intro">{intro}</p> : null}
      <StaleNotice />
      {children}
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Section({ title, aside, children }: SectionProps) {
  return (
    <section class="card" aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
