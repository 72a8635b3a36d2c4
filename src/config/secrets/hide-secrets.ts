import type { Shape } from '../schema/shape.ts';

/** The visible part of each key's value: of URLs all but the password, of maps their known keys. */
export type VisibleValues = Map<string, 'plain' | 'url' | 'secret' | 'map'>;

export function visibleValues(root: Shape): VisibleValues {
  const visible: VisibleValues = new Map();
  function visit(shape: Shape): void {
    if (shape.kind === 'map' || shape.kind === 'list') visit(shape.of);
    if (shape.kind !== 'object') return;
    for (const [key, child] of shape.keys) {
      const leaf = child.kind === 'list' ? child.of : child;
      if (leaf.kind !== 'value') {
        visible.set(key, 'map');
        visit(child);
      } else if (!leaf.traits.secret && visible.get(key) !== 'secret') visible.set(key, 'plain');
      else visible.set(key, key.endsWith('_url') ? 'url' : 'secret');
    }
  }
  visit(root);
  return visible;
}

const HIDDEN = '***';

/**
 * A line of a configuration, however broken, without possible secrets. An unknown key may be a misspelt secret
 * (`authtokn: …`), so only values of known harmless keys are shown.
 */
export function hideSecrets(
  lines: string[],
  { index, offset, visible }: { index: number; offset: number; visible: VisibleValues },
): { text: string; offset: number } {
  const line = lines[index] ?? '';
  let text = '';
  let moved = offset;
  let position = 0;
  for (const [start, end] of secretRanges(line, { owner: () => ownerOf(lines, index), visible })) {
    if (end <= position) continue;
    const from = Math.max(start, position);
    text += line.slice(position, from);
    if (offset >= from) moved = offset < end ? text.length : text.length + HIDDEN.length + offset - end;
    text += HIDDEN;
    position = end;
  }
  return { text: text + line.slice(position), offset: moved };
}

// Each pattern takes linear time: a file must not block the program.
const PAIR = /(?<![\p{L}\p{N}_.$/-])([\p{L}\p{N}_.$/-]+)["']?\s*:(?=\s|$)/gu;

const SECRETS: RegExp[] = [
  /(?:key|token|secret|pass\w{0,20}|pwd)["']?\s*[:=]\s*(?<secret>.+)$/dgi,
  // A password may contain @, and a blank by mistake: it ends at the last @ of the line.
  /:\/\/[^/:@]*:(?<secret>.*)@/dg,
  // The user name may contain @ (`user@server:password@host`); a port is not a password.
  /:\/\/[^/:@]*(?:@[^/:@]*)+:(?!\d{1,5}(?:[/?,"'\s]|$))(?<secret>.*)@/dg,
  // Without an @ it is a password only when it is no port; it may contain a blank or tab by mistake.
  /:\/\/[^/:@]*:(?!\d{1,5}(?:[/?,"']|\s*(?:[#,\]}]|$)))(?<secret>(?:\{\{[^{}]*\}\}|[^@{"']|\{(?!\{))+)(?=["']|$)/dg,
  // A password that stands where the user name belongs; of a plain word that cannot be told.
  /:\/\/(?![\p{L}_][\p{L}\p{N}_.-]*@)(?<secret>[^/:@\s"']+)@/dgu,
  /\$aes\$(?<secret>[0-9a-f]+)/dgi,
];

/** A template's variable is shown, closed or not; a text in it may be a password. */
const TEMPLATE = /\{\{[^{}]*(?:\||\benv\b)[^{}]*\}\}?/g;

function secretRanges(
  line: string,
  { owner, visible }: { owner: () => string | null; visible: VisibleValues },
): [number, number][] {
  const pairs = [...line.matchAll(PAIR)];
  const values = [
    { key: owner, start: 0, end: pairs[0]?.index ?? line.length },
    ...pairs.map((pair, index) => ({
      // Outside of braces a line has one key; a second one is part of the value, such as `postgres: //`.
      key: () => (index === 0 || /[{,[]\s*["']?$/.test(line.slice(0, pair.index)) ? (pair[1] ?? null) : null),
      start: pair.index + pair[0].length,
      end: pairs[index + 1]?.index ?? line.length,
    })),
  ];
  const concealed = values.find(({ key, start, end }) => {
    const value = line.slice(start, end);
    return value.replace(MARKS, '') !== '' && isConcealed(value, visible.get(key() ?? ''));
  });
  const found = SECRETS.flatMap((pattern) => Array.from(line.matchAll(pattern))).flatMap((match) => {
    const [from = 0, to = 0] = match.indices?.groups?.secret ?? [];
    return withoutTemplates(line, from, to);
  });
  // The apparent next pair may still be part of the value.
  const rest = concealed
    ? withoutTemplates(
        line,
        startOfValue(line, { start: concealed.start, visible }),
        line.replace(/[\s"'}\]]*$/, '').length,
      )
    : [];
  return [...found, ...rest].sort(([a], [b]) => a - b);
}

/** Characters without content: blanks, brackets, list marks, comment marks. */
const MARKS = /^(?:[\s}[\],"'?]|\{(?!\{)|-+(?=\s|$))*/;

function isConcealed(value: string, rule: 'plain' | 'url' | 'secret' | 'map' | undefined): boolean {
  return rule !== 'plain' && (rule !== 'url' || !value.includes('://'));
}

/** Behind marks, and behind a key with a forgotten colon. */
function startOfValue(line: string, { start, visible }: { start: number; visible: VisibleValues }): number {
  const begin = start + (MARKS.exec(line.slice(start))?.[0].length ?? 0);
  const word = /^\w+/.exec(line.slice(begin))?.[0] ?? '';
  return visible.has(word)
    ? begin + word.length + (/^ */.exec(line.slice(begin + word.length))?.[0].length ?? 0)
    : begin;
}

const SEARCHED = 1000;

/** The key of a line without one: the closest line above with less indentation and no value. */
function ownerOf(lines: string[], index: number): string | null {
  const written = lines[index] ?? '';
  let indent = indentOf(written) + (written.trimStart().startsWith('- ') ? 1 : 0);
  for (let above = index - 1; above >= Math.max(0, index - SEARCHED) && indent > 0; above -= 1) {
    const line = lines[above] ?? '';
    if (line.trim() === '' || indentOf(line) >= indent) continue;
    const [, key = null] = /^\s*(?:- )?["']?([\p{L}\p{N}_.$/-]+)["']?\s*:\s*(?:#.*)?$/u.exec(line) ?? [];
    if (key !== null) return key;
    indent = indentOf(line);
  }
  return null;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function withoutTemplates(line: string, from: number, to: number): [number, number][] {
  const ranges: [number, number][] = [];
  let position = from;
  for (const template of line.slice(from, to).matchAll(TEMPLATE)) {
    ranges.push([position, from + template.index]);
    position = from + template.index + template[0].length;
  }
  return [...ranges, [position, to] as [number, number]].filter(([start, end]) => end > start);
}
