import type { Span } from '../../components/line.tsx';
import { keyText } from '../../src/config/keys/keys-in-effect.ts';
import type { Glyphs, Tone } from '../../src/presentation/shapes/glyphs.ts';
import { detailsWithKey } from '../../src/presentation/shapes/summary.ts';
import type { Run, RunSummary } from '../../src/state/runs.ts';
import { cellWidth, wrap } from '../../src/text/text-width.ts';
import { cardTexts, outcomeTone, queuedLines, untouchedLines } from '../app/frame/run-text.ts';
import { keysWhenDone } from '../commands/runs/after-run.ts';

export interface OutcomeOptions {
  run: Run;
  /** The run that it waits for. */
  before: Run | null;
  width: number;
  glyphs: Glyphs;
}

/** The result of a run: its summary, or the error with the next step. */
export function outcomeLines({ run, before, width, glyphs }: OutcomeOptions): Span[][] {
  const { state, summary } = run;
  const paragraph = (text: string, tone: Tone = 'plain', lead = '') =>
    wrap(text, Math.max(10, width - 2)).map((line, index): Span[] => [
      { text: index === 0 && lead !== '' ? `${lead} ` : '  ', tone },
      { text: line, tone },
    ]);
  const done = whenDoneLines(run, { width, glyphs });
  const warnings = state.warnings.flatMap(({ message }) => paragraph(message, 'caution', glyphs.caution));
  if (state.status === 'running') return spaced([...warnings, ...(warnings.length > 0 ? [[]] : []), ...done]);
  if (state.status === 'waiting') {
    const [first = '', ...rest] = queuedLines(before);
    return [...paragraph(first, 'accent', glyphs.pending), ...rest.flatMap((line) => paragraph(line, 'dim'))];
  }
  if (state.status === 'done') {
    const problems = summary?.problems ?? [];
    const tone = outcomeTone(summary);
    const line = summary?.card
      ? [...cardLines(run, { tone, width, glyphs }), [], ...paragraph(lineBelow(summary.line, summary.card), 'dim')]
      : paragraph(summary?.line ?? 'Done', tone, glyphs[tone]);
    const more = (summary ? detailsWithKey(summary) : []).flatMap((detail) => paragraph(detail, 'dim'));
    return spaced([...warnings, ...line, ...problems.flatMap((problem) => paragraph(problem)), ...more, [], ...done]);
  }
  const { error } = state;
  const tone = state.status === 'cancelled' ? 'caution' : 'bad';
  const glyph = state.status === 'cancelled' ? glyphs.caution : glyphs.bad;
  return spaced([
    ...warnings,
    ...paragraph(error?.message ?? state.status, tone, glyph),
    ...untouchedLines(run).flatMap((line) => paragraph(line, 'strong')),
    ...(error?.details ?? []).flatMap((detail) => paragraph(detail)),
    ...(error?.hint ? paragraph(error.hint, 'dim', glyphs.arrow) : []),
  ]);
}

/** `── when done ──`, and what the keys do then. */
function whenDoneLines(run: Run, { width, glyphs }: Pick<OutcomeOptions, 'width' | 'glyphs'>): Span[][] {
  const title = `${glyphs.rule} ${run.state.status === 'done' ? 'now' : 'when done'} `;
  const keys = keysWhenDone(run).map(({ id, label }): Span[] => [
    { text: id === null ? 'Enter' : keyText(id), tone: run.state.status === 'done' ? 'accent' : 'dim', bold: true },
    { text: ` ${label}   `, tone: 'dim' },
  ]);
  return [
    [{ text: title + glyphs.rule.repeat(Math.max(0, width - cellWidth(title))), tone: 'dim' }],
    [{ text: '  ' }, ...keys.flat()],
  ];
}

/** The card has its facts. */
function lineBelow(line: string, { facts }: NonNullable<RunSummary['card']>): string {
  return facts.reduce((text, fact) => text.replace(`: ${fact}`, ''), line);
}

/** The result in a few words, in a box where the terminal has one. */
function cardLines(run: Run, { tone, width, glyphs }: CardOptions): Span[][] {
  const [title = '', ...facts] = cardTexts(run);
  const between = glyphs.side === '' ? `${glyphs.dot} ` : `  ${glyphs.dot}  `;
  const text = wrap([`${glyphs[tone]} ${title}`, ...facts].join(between), Math.max(10, width - 6));
  if (glyphs.side === '') return text.map((line): Span[] => [{ text: line, tone, bold: true }]);
  const inner = Math.max(...text.map((line) => cellWidth(line))) + 2;
  const { topLeft, topRight, bottomLeft, bottomRight } = glyphs.corners;
  const rule = glyphs.rule.repeat(inner);
  return [
    [{ text: `${topLeft}${rule}${topRight}`, tone }],
    ...text.map((line): Span[] => [
      { text: `${glyphs.side} `, tone },
      { text: line.padEnd(inner - 1 - cellWidth(line) + line.length), tone, bold: true },
      { text: glyphs.side, tone },
    ]),
    [{ text: `${bottomLeft}${rule}${bottomRight}`, tone }],
  ];
}

interface CardOptions {
  tone: 'good' | 'caution' | 'bad';
  width: number;
  glyphs: Glyphs;
}

function spaced(lines: Span[][]): Span[][] {
  return lines.length === 0 ? [] : [[], ...lines];
}
