import type { Column } from '../../presentation/shapes/column.ts';
import type { Fact } from '../../presentation/shapes/fact.ts';
import type { BackPoint, BackPoints } from '../../results/saves/save-results.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { formatAge, formatBytes, formatNumberOf, formatPartOf, formatTime } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';

export const NAME_OF_SAVE = 'Name; leave empty to use the time';
export const NO_SAVE = 'Only a save can be removed';
export const NO_POINT = 'There is no state to return to';

const WAYS: Record<BackPoint['way'], { brief: string; full: string }> = {
  swap: { brief: 'swap', full: 'swap with a database that exists already' },
  in_place: { brief: 'in place', full: 'in place, in one transaction' },
  copy: { brief: 'copy and swap', full: 'copy the base copy, then swap' },
  restore: { brief: 'restore and swap', full: 'restore it into a shadow database, then swap' },
};

export function pointColumns(points: BackPoint[], now: Date): Column<BackPoint>[] {
  const indexes: Column<BackPoint> = {
    title: 'INDEX',
    align: 'right',
    whole: true,
    cell: ({ index }) => ({ text: index === undefined ? '' : `${index}` }),
  };
  return [
    { title: 'POINT', grows: true, essential: true, cell: ({ name }) => ({ text: printable(name) }) },
    ...(points.some(({ index }) => index !== undefined) ? [indexes] : []),
    { title: 'AGE', whole: true, cell: ({ created_at }) => ({ text: ageText(created_at, now) }) },
    { title: 'SIZE', align: 'right', whole: true, cell: ({ size_bytes }) => ({ text: sizeText(size_bytes) }) },
    { title: 'MADE BY', dropRank: 2, cell: ({ made_by }) => ({ text: printable(made_by) }) },
    {
      title: 'METHOD',
      dropRank: 1,
      cell: ({ way, unavailable }) => ({ text: unavailable ? 'unavailable' : WAYS[way].brief }),
    },
    { title: 'NOTE', dropRank: 3, cell: ({ note, unavailable }) => ({ text: printable(unavailable ?? note ?? '') }) },
  ];
}

/** Most tables in a line. */
const LISTED = 6;

export function pointFacts(
  point: BackPoint,
  { destination, branch }: Pick<BackPoints, 'destination' | 'branch'>,
): { title: string; facts: Fact[] } {
  const { kind, name, created_at, size_bytes, made_by, note, way, tables, unavailable } = point;
  const replaced = tables ? `rows of ${boundedList(tables, LISTED)} in ${destination}` : destination;
  return {
    title: printable(name),
    facts: [
      ...(unavailable === undefined
        ? [
            { name: 'Method', value: WAYS[way].full },
            { name: 'Replaces', value: printable(replaced) },
            ...keptFacts({ kind, isBranch: branch !== undefined }),
          ]
        : [{ name: 'Unavailable', value: printable(unavailable), tone: 'caution' as const }]),
      { name: 'Made by', value: printable(made_by) },
      ...(created_at === null ? [] : [{ name: 'Time', value: formatTime(created_at) }]),
      ...(size_bytes === null ? [] : [{ name: 'Size', value: formatBytes(size_bytes) }]),
      ...(note === undefined ? [] : [{ name: 'Note', value: printable(note) }]),
    ],
  };
}

/** A reset of a branch by a person keeps nothing. */
function keptFacts({ kind, isBranch }: { kind: BackPoint['kind']; isBranch: boolean }): Fact[] {
  if (!isBranch) return [{ name: 'Keeps', value: 'the present state, as the point previous' }];
  return kind === 'load' ? [] : [{ name: 'Keeps', value: 'the present state, as a save (saves.before)' }];
}

/** The index of the newest point that can be returned to; 0 without one. */
export function likelyPoint(points: BackPoint[]): number {
  const times = points.map(({ created_at, unavailable }) => (unavailable === undefined ? (created_at ?? '') : ''));
  const newest = times.toSorted().at(-1);
  return newest ? times.indexOf(newest) : 0;
}

export function countedPoints({ points }: BackPoints): string {
  const usable = points.filter(({ unavailable }) => unavailable === undefined).length;
  return usable === points.length ? formatNumberOf(usable, 'point') : formatPartOf(usable, points.length, 'point');
}

function ageText(at: string | null, now: Date): string {
  const time = Date.parse(at ?? '');
  return Number.isNaN(time) ? '' : formatAge(now.getTime() - time);
}

function sizeText(bytes: number | null): string {
  return bytes === null ? '' : formatBytes(bytes);
}
