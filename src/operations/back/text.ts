import type { Column } from '../../presentation/shapes/column.ts';
import type { BackPoint } from '../../results/save-results.ts';
import { formatAge, formatBytes } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';

const WAYS: Record<BackPoint['way'], string> = {
  swap: 'swap',
  copy: 'copy and swap',
  restore: 'restore and swap',
};

export function pointColumns(now: Date): Column<BackPoint>[] {
  return [
    { title: 'POINT', grows: true, essential: true, cell: ({ name }) => ({ text: printable(name) }) },
    {
      title: 'INDEX',
      align: 'right',
      whole: true,
      cell: ({ index }) => ({ text: index === undefined ? '' : `${index}` }),
    },
    { title: 'AGE', whole: true, cell: ({ created_at }) => ({ text: ageText(created_at, now) }) },
    {
      title: 'SIZE',
      align: 'right',
      whole: true,
      cell: ({ size_bytes }) => ({ text: size_bytes === null ? '' : formatBytes(size_bytes) }),
    },
    { title: 'MADE BY', dropRank: 2, cell: ({ made_by }) => ({ text: printable(made_by) }) },
    { title: 'WAY', dropRank: 1, cell: ({ way, unavailable }) => ({ text: unavailable ? 'unavailable' : WAYS[way] }) },
    { title: 'NOTE', dropRank: 3, cell: ({ note, unavailable }) => ({ text: printable(unavailable ?? note ?? '') }) },
  ];
}

function ageText(at: string | null, now: Date): string {
  const time = Date.parse(at ?? '');
  return Number.isNaN(time) ? '' : formatAge(now.getTime() - time);
}
