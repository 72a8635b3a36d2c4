import { bracketed, changedParts } from '../../../presentation/shapes/changed-part.ts';
import type { Glyphs, Tone } from '../../../presentation/shapes/glyphs.ts';
import type { StyledText } from '../../../presentation/shapes/grid.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { cellWidth, fitCells, wrap } from '../../../text/text-width.ts';
import type { ShownValue } from '../value-text.ts';

/** A column of a record; `before` alone or `after` alone where it did not change. */
export interface RecordField {
  name: string;
  before?: ShownValue;
  after?: ShownValue;
  /** Tone of a value that did not change. */
  tone?: Tone;
}

export interface RecordRoom {
  width: number;
  glyphs: Pick<Glyphs, 'arrow' | 'ellipsis'>;
}

const LONGEST_NAME = 24;

/** A line for each column, as many as its value needs; the old and the new value of one that changed. */
export function recordLines(fields: RecordField[], { width, glyphs }: RecordRoom): StyledText[][] {
  const longest = fields.reduce((most, { name }) => Math.max(most, cellWidth(name)), 0);
  const indent = Math.min(longest, LONGEST_NAME, Math.floor(width / 3)) + 2;
  const room = Math.max(8, width - indent);
  return fields.flatMap((field) => {
    const title = {
      text: fitCells(field.name, indent - 2, { ellipsis: glyphs.ellipsis }).padEnd(indent),
      tone: 'dim' as const,
    };
    return fieldLines(field, room, glyphs).map((spans, index) => [
      index === 0 ? title : { text: ' '.repeat(indent) },
      ...spans,
    ]);
  });
}

function fieldLines(
  { before, after, tone = 'plain' }: RecordField,
  room: number,
  glyphs: RecordRoom['glyphs'],
): StyledText[][] {
  const only = after ?? before;
  if (!before || !after) return only ? wrapped(only.text, room, only.isText && !only.isMasked ? tone : 'dim') : [];
  const [old, now] = markedTexts(before, after);
  const arrow = ` ${glyphs.arrow} `;
  if (cellWidth(old) + cellWidth(arrow) + cellWidth(now) <= room) {
    return [
      [
        { text: old, tone: 'bad' },
        { text: arrow, tone: 'dim' },
        { text: now, tone: 'good' },
      ],
    ];
  }
  return [...signed(old, room, { sign: '-', tone: 'bad' }), ...signed(now, room, { sign: '+', tone: 'good' })];
}

/** The part that differs in brackets, for eyes and terminals without colour. */
function markedTexts(before: ShownValue, after: ShownValue): [string, string] {
  if (!before.isText || !after.isText || before.isMasked || after.isMasked) return [before.text, after.text];
  const [old, now] = changedParts(before.text, after.text);
  return [bracketed(old), bracketed(now)];
}

function signed(text: string, room: number, { sign, tone }: { sign: string; tone: Tone }): StyledText[][] {
  return wrapped(text, room - 2, tone).map((spans, index) => [
    { text: index === 0 ? `${sign} ` : '  ', tone },
    ...spans,
  ]);
}

function wrapped(text: string, width: number, tone: Tone): StyledText[][] {
  return wrap(text, width).map((line) => [{ text: line, tone }]);
}

/** `11 other columns unchanged` */
export function unchangedText(count: number): string {
  return `${formatNumberOf(count, 'other column')} unchanged`;
}
