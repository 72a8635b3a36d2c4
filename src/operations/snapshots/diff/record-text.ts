import { aroundChange, bracketed, changedParts } from '../../../presentation/shapes/changed-part.ts';
import type { Glyphs, Tone } from '../../../presentation/shapes/glyphs.ts';
import type { StyledText } from '../../../presentation/shapes/grid.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { cellWidth, cut, fitCells, wrap } from '../../../text/text-width.ts';
import type { ShownValue } from '../rows/value-text.ts';

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
  /** A line for each value, cut. */
  isBrief?: boolean;
  glyphs: Pick<Glyphs, 'arrow' | 'ellipsis'>;
}

const LONGEST_NAME = 24;

/** A line for each column, as many as its value needs; the old and the new value of one that changed. */
export function recordLines(fields: RecordField[], room: RecordRoom): StyledText[][] {
  const { width, glyphs } = room;
  const longest = fields.reduce((most, { name }) => Math.max(most, cellWidth(name)), 0);
  const nameWidth = Math.min(longest, LONGEST_NAME, Math.floor(width / 3));
  const values = { ...room, width: Math.max(8, width - nameWidth - 2) };
  return fields.flatMap((field) =>
    fieldLines(field, values).map((spans, index): StyledText[] => [
      { text: `${fitCells(index === 0 ? field.name : '', nameWidth, glyphs)}  `, tone: 'dim' },
      ...spans,
    ]),
  );
}

function fieldLines({ before, after, tone = 'plain' }: RecordField, room: RecordRoom): StyledText[][] {
  const { width, glyphs } = room;
  const only = after ?? before;
  if (!before || !after) return only ? textLines(only.text, room, only.isText && !only.isMasked ? tone : 'dim') : [];
  const [old, now] = markedTexts(before, after);
  const arrow = ` ${glyphs.arrow} `;
  if (cellWidth(old) + cellWidth(arrow) + cellWidth(now) <= width) {
    return [
      [
        { text: old, tone: 'bad' },
        { text: arrow, tone: 'dim' },
        { text: now, tone: 'good' },
      ],
    ];
  }
  const within = { ...room, width: width - 2 };
  const [oldShown, nowShown] = room.isBrief ? markedTexts(before, after, within) : [old, now];
  return [...signed('-', textLines(oldShown, within, 'bad')), ...signed('+', textLines(nowShown, within, 'good'))];
}

/** The part that differs in brackets, for eyes and terminals without colour; with a room, the text around that part. */
function markedTexts(before: ShownValue, after: ShownValue, room?: RecordRoom): [string, string] {
  if (!before.isText || !after.isText || before.isMasked || after.isMasked) return [before.text, after.text];
  const [old, now] = changedParts(before.text, after.text);
  const around = (part: typeof old): string =>
    bracketed(room ? aroundChange(part, room.width - 2, room.glyphs.ellipsis) : part);
  return [around(old), around(now)];
}

function signed(sign: string, lines: StyledText[][]): StyledText[][] {
  return lines.map((spans, index) => {
    const [first] = spans;
    return [{ ...first, text: index === 0 ? `${sign} ` : '  ' }, ...spans];
  });
}

function textLines(text: string, { width, isBrief, glyphs }: RecordRoom, tone: Tone): StyledText[][] {
  const lines = isBrief ? [cut(text, width, glyphs.ellipsis)] : wrap(text, width);
  return lines.map((line) => [{ text: line, tone }]);
}

/** `11 other columns unchanged` */
export function unchangedText(count: number): string {
  return `${formatNumberOf(count, 'other column')} unchanged`;
}
