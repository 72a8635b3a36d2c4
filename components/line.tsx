import { Text } from 'ink';
import { memo } from 'react';
import type { Tone } from '../src/presentation/shapes/glyphs.ts';
import { cellWidth, cut } from '../src/text/text-width.ts';
import { type SurfaceName, useTheme } from './theme.ts';

export interface Span {
  text: string;
  tone?: Tone | 'border';
  bold?: boolean;
}

export interface LineProps {
  spans: Span[];
  width: number;
  /** With a background, over the whole width. */
  surface?: SurfaceName | undefined;
}

export const Line = memo(function Line({ spans, width, surface }: LineProps) {
  const { glyphs, tones: pageTones, border, surfaces } = useTheme();
  const { base, tones } = surface ? surfaces[surface] : { base: {}, tones: pageTones };
  const cutToWidth = cutSpans(spans, width, glyphs.ellipsis);
  const shown = surface ? padded(cutToWidth, width) : cutToWidth;
  return (
    <Text wrap="truncate" {...base}>
      {shown.length === 0 ? ' ' : null}
      {shown.map(({ text, tone = 'plain', bold = false }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a line have no identity but their place
        <Text key={index} {...(tone === 'border' ? border : tones[tone])} {...(bold ? { bold } : {})}>
          {text}
        </Text>
      ))}
    </Text>
  );
}, isSameLine);

/** Lines have no identity but their place. */
export function Lines({ lines, width }: { lines: Span[][]; width: number }) {
  return lines.map((spans, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <Line key={index} spans={spans} width={width} />
  ));
}

/** Spans are new in every frame: comparing them draws only the lines that changed. */
function isSameLine(before: LineProps, after: LineProps): boolean {
  return (
    before.width === after.width &&
    before.surface === after.surface &&
    before.spans.length === after.spans.length &&
    before.spans.every((span, index) => {
      const other = after.spans[index];
      return span.text === other?.text && looksLike(span, other);
    })
  );
}

function looksLike(one: Span, other: Span): boolean {
  return (one.tone ?? 'plain') === (other.tone ?? 'plain') && (one.bold ?? false) === (other.bold ?? false);
}

function padded(spans: Span[], width: number): Span[] {
  const used = spansWidth(spans);
  return used < width ? [...spans, { text: ' '.repeat(width - used) }] : spans;
}

/** In cells. */
export function spansWidth(spans: Span[]): number {
  return spans.reduce((sum, { text }) => sum + cellWidth(text), 0);
}

export function cutSpans(spans: Span[], width: number, ellipsis: string): Span[] {
  const shown: Span[] = [];
  let room = width;
  for (const span of spans) {
    if (room <= 0) break;
    const text = cut(span.text, room, ellipsis);
    room -= cellWidth(text);
    const last = shown.at(-1);
    // Merges neighbours of one look: each span costs Ink a node.
    if (last && looksLike(last, span)) last.text += text;
    else shown.push({ ...span, text });
    if (text !== span.text && cellWidth(span.text) > cellWidth(text)) break;
  }
  return shown;
}

/** Between one blank at each end. */
export function betweenBlanks(spans: Span[]): Span[] {
  const last = spans.length - 1;
  const trimmed = spans.map((span, index) => (index === last ? { ...span, text: span.text.trimEnd() } : span));
  return spans.length === 0 ? [] : [{ text: ' ' }, ...trimmed, { text: ' ' }];
}
