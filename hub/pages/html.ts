import { html } from 'hono/html';
import { printable } from '../../src/text/printable.ts';

/** Markup; `html` escapes every interpolated text. */
export type Html = ReturnType<typeof html>;

/** A name from outside: isolated, without characters that reorder the text around it. */
export function nameOf(text: string): Html {
  return html`<bdi>${printable(text)}</bdi>`;
}

/** Names in a list; `none` is for an empty one. */
export function namesOf(names: string[], none: string): Html {
  if (names.length === 0) return html`<span class="faint">${none}</span>`;
  return html`${names.map((name, index) => html`${index > 0 ? ', ' : ''}${nameOf(name)}`)}`;
}

/** `2026-11-22 10:40:05 UTC` */
export function timeOf(time: Date): Html {
  const iso = time.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}
