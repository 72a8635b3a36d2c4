import type { Glyphs, Tone } from '../../presentation/shapes/glyphs.ts';
import type { RehearsalResult } from '../../results/review/rehearsal-results.ts';
import { formatDuration, formatNumberOf, formatPartOf } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { fitCells } from '../../text/text-width.ts';
import { oneLine } from './list-text.ts';

type Statement = RehearsalResult['statements'][number];
type WaitingRole = 'readers' | 'writers' | 'none';

/** A statement and the strongest lock that it took. */
export interface TimelineRow {
  statement: Statement;
  waiting: WaitingRole;
  /** The end of its longest lock of that kind, at least its own end. */
  heldUntilMs: number;
}

const RANKS: Record<WaitingRole, number> = { none: 0, writers: 1, readers: 2 };

/** The statements that matter most, in the order of time. */
export function timelineRows({ statements, locks }: RehearsalResult, most: number): TimelineRow[] {
  const rows = statements.map((statement): TimelineRow => {
    const end = statement.at_ms + statement.duration_ms;
    const own = locks.filter(
      ({ statement: text, at_ms }) => text === statement.text && at_ms >= statement.at_ms - 1 && at_ms <= end + 1,
    );
    const waiting = own.reduce<WaitingRole>(
      (worst, { blocks }) => (RANKS[blocks] > RANKS[worst] ? blocks : worst),
      'none',
    );
    const ends = own.filter(({ blocks }) => blocks === waiting).map(({ at_ms, held_ms }) => at_ms + held_ms);
    return { statement, waiting, heldUntilMs: Math.max(end, ...ends) };
  });
  const isFirst = (one: TimelineRow, other: TimelineRow): number =>
    Number(other.statement.error !== null) - Number(one.statement.error !== null) ||
    RANKS[other.waiting] - RANKS[one.waiting] ||
    other.heldUntilMs - other.statement.at_ms - (one.heldUntilMs - one.statement.at_ms);
  return rows
    .toSorted(isFirst)
    .slice(0, most)
    .toSorted((one, other) => one.statement.at_ms - other.statement.at_ms);
}

export interface TimelineSpan {
  text: string;
  tone?: Tone;
  bold?: boolean;
}

interface TimelineOptions {
  result: RehearsalResult;
  rows: TimelineRow[];
  width: number;
  glyphs: Glyphs;
  /** The text of the statement that is selected in the list. */
  selected: string | null;
}

const TONES: Record<WaitingRole, Tone> = { readers: 'bad', writers: 'caution', none: 'accent' };
const WHO: Record<WaitingRole, string> = { readers: 'readers wait', writers: 'writers wait', none: '' };
const DURATION = 8;
const WHO_WIDTH = 12;
/** In fewer cells the words of who waits have no room. */
const WHO_FROM = 56;

/** A bar for each statement: while it ran, and beyond that while its lock was held. */
export function timelineLines({ result, rows, width, glyphs, selected }: TimelineOptions): TimelineSpan[][] {
  const end = Math.max(1, ...rows.map(({ heldUntilMs }) => heldUntilMs));
  const withWho = width >= WHO_FROM;
  const fixed = 2 + 2 + 2 + DURATION + (withWho ? WHO_WIDTH + 2 : 0);
  const textWidth = Math.max(8, Math.floor((width - fixed) * TEXT_PART));
  const barWidth = Math.max(4, width - fixed - textWidth);
  const lines = rows.map(({ statement, waiting, heldUntilMs }): TimelineSpan[] => {
    const { text, at_ms, duration_ms, error } = statement;
    const isSelected = selected !== null && oneLine(text) === oneLine(selected);
    const tone = error ? 'bad' : TONES[waiting];
    const at = (ms: number): number => Math.round((ms / end) * barWidth);
    const from = Math.min(at(at_ms), barWidth - 1);
    const until = Math.max(from + 1, at(at_ms + duration_ms));
    const held = Math.max(until, waiting === 'none' ? until : at(heldUntilMs));
    const bar = barGlyph(waiting, glyphs).repeat(until - from) + glyphs.rule.repeat(held - until);
    const who = error ? 'failed' : WHO[waiting];
    return [
      { text: isSelected ? `${glyphs.pointer} ` : '  ', tone: 'accent' },
      { text: fitCells(printable(oneLine(text)), textWidth, { ellipsis: glyphs.ellipsis }), bold: isSelected },
      { text: '  ' },
      { text: fitCells(`${glyphs.barFull === '' ? '' : ' '.repeat(from)}${bar}`, barWidth), tone },
      { text: `  ${formatDuration(duration_ms).padStart(DURATION)}` },
      ...(withWho ? [{ text: `  ${who.padEnd(WHO_WIDTH)}`, tone }] : []),
    ];
  });
  return [legend(result, { shown: rows.length, end, glyphs }), ...lines];
}

const TEXT_PART = 0.45;

function barGlyph(waiting: WaitingRole, { barFull, barHalf, barEmpty }: Glyphs): string {
  return { readers: barFull, writers: barHalf, none: barEmpty }[waiting];
}

/** `4 of 14 statements, 41 s   █ readers wait  ▓ writers wait  ─ lock held` */
function legend(
  { statements, statements_left_out }: RehearsalResult,
  { shown, end, glyphs }: { shown: number; end: number; glyphs: Glyphs },
): TimelineSpan[] {
  const all = statements.length + statements_left_out;
  const count = shown < all ? formatPartOf(shown, all, 'statement') : formatNumberOf(all, 'statement');
  const signs: TimelineSpan[] =
    glyphs.barFull === ''
      ? []
      : [
          { text: `  ${glyphs.barFull} readers wait`, tone: 'bad' },
          { text: `  ${glyphs.barHalf} writers wait`, tone: 'caution' },
          { text: `  ${glyphs.rule} lock held`, tone: 'dim' },
        ];
  return [{ text: `  ${count}, ${formatDuration(end)}`, tone: 'dim' }, ...signs];
}
