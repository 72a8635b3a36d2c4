import type { Column } from '../../../presentation/shapes/column.ts';
import type { ServerRow } from '../../../results/server-results.ts';
import { formatAge, formatBytes } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';

export const NO_SERVERS = 'No servers. Start one: tool up TARGET';

export function serverColumns(now: Date): Column<ServerRow>[] {
  return [
    { title: 'TARGET', grows: true, essential: true, cell: ({ target }) => ({ text: printable(target) }) },
    { title: 'PORT', align: 'right', whole: true, essential: true, cell: ({ port }) => ({ text: String(port) }) },
    { title: 'SNAPSHOT', whole: true, dropRank: 3, cell: ({ snapshot }) => ({ text: snapshot }) },
    {
      title: 'AGE',
      whole: true,
      dropRank: 2,
      cell: ({ created_at }) => ({ text: formatAge(now.getTime() - Date.parse(created_at)) }),
    },
    {
      title: 'MEMORY',
      align: 'right',
      whole: true,
      dropRank: 1,
      cell: ({ memory_bytes }) => ({ text: memory_bytes === null ? 'unknown' : formatBytes(memory_bytes) }),
    },
  ];
}
